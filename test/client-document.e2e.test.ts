// Clients that are known by a metadata document at their own address: a server of the test has it, behind real TLS.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { Server } from 'node:https'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Guardian } from '@mcp-host/process'
import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import type { TcpProxy } from '@mcp-host/testkit'
import { FormBrowser, startGateways, startTcpProxy, testFolder } from '@mcp-host/testkit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

const REDIRECT = 'http://127.0.0.1:9/callback'
const PASSWORD = 'correct horse battery'
const run = promisify(execFile)
const stackOf = new AsyncDisposableStack()

let proxy: TcpProxy
let url: string
let server: Server
/** The address of the document, which is the id of the client. */
let clientId: string
/** What the server answers, and how many connections it got. */
let document: object | string
let connections = 0
const browser = () => new FormBrowser(url)

beforeAll(async () => {
  const folder = stackOf.use(await testFolder()).path
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const about = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const files = ['-keyout', key, '-out', cert]
  await run('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...files, ...about])
  const identity = { key: await readFile(key), cert: await readFile(cert) }
  server = createServer(identity, (request, response) => {
    if (request.url === '/moved.json') {
      response.writeHead(302, { location: '/client.json' }).end()
      return
    }
    const text = typeof document === 'string' ? document : JSON.stringify(document)
    response.writeHead(200, { 'content-type': 'application/json' }).end(text)
  })
  server.on('connection', () => (connections += 1))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stackOf.defer(() => {
    server.close()
    server.closeAllConnections()
  })
  clientId = `https://localhost:${(server.address() as AddressInfo).port}/client.json`
  proxy = stackOf.use(await startTcpProxy())
  url = proxy.url
  const guardian = stackOf.use(new Guardian())
  const gateways = stackOf.use(
    await startGateways({
      folder: join(folder, 'host'),
      guardian,
      servers: {},
      env: {
        AUTH: 'local',
        PUBLIC_URL: url,
        NODE_EXTRA_CA_CERTS: cert,
        CLIENT_DOCUMENT_HOSTS: 'localhost',
      },
    }),
  )
  proxy.route(...gateways.urls)
  const log = await readFile(join(folder, 'host', 'gateway-0.log'), 'utf8')
  const admin = browser()
  const form = await admin.open(/http:\S+\/invite\/[\w-]+/.exec(log)?.[0] ?? '')
  await admin.submit(form, { name: 'ann', password: PASSWORD, again: PASSWORD })
}, 120_000)
afterAll(() => stackOf.disposeAsync())
beforeEach(() => {
  document = metadata()
})

function metadata(more: object = {}): object {
  return {
    client_id: clientId,
    client_name: 'A published client',
    redirect_uris: [REDIRECT],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    ...more,
  }
}

/** What the SDK keeps of a client. */
class ClientState {
  readonly redirectUrl = REDIRECT
  readonly clientMetadataUrl: string
  readonly clientMetadata = metadata() as { redirect_uris: string[] }
  // The SDK stores objects of types of its own, which this class only returns.
  client: any
  stored: any
  verifier = ''
  authorizeUrl = ''

  constructor(address: string) {
    this.clientMetadataUrl = address
  }

  clientInformation = () => this.client
  saveClientInformation = (client: unknown) => void (this.client = client)
  tokens = () => this.stored
  saveTokens = (tokens: unknown) => void (this.stored = tokens)
  redirectToAuthorization = (address: URL) => void (this.authorizeUrl = address.href)
  saveCodeVerifier = (verifier: string) => void (this.verifier = verifier)
  codeVerifier = () => this.verifier
}

test('an SDK client logs in by its document, whose host the user sees, without registering', async () => {
  const authProvider = new ClientState(clientId)
  const transport = () => new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider })
  const info = { name: 'test', version: '1.0.0' }
  const options = { versionNegotiation: { mode: 'auto' } } as const
  const first = transport()
  await expect(new Client(info, options).connect(first)).rejects.toBeInstanceOf(UnauthorizedError)
  const asked = new URL(authProvider.authorizeUrl)
  expect(asked.searchParams.get('client_id')).toBe(clientId)
  const user = browser()
  const login = await user.open(authProvider.authorizeUrl)
  const consent = await user.submit(login, { name: 'ann', password: PASSWORD })
  expect(consent.text).toContain('Allow <bdi>A published client</bdi> to connect?')
  expect(consent.text).toContain(new URL(clientId).host)
  await user.submit(consent, { decision: 'allow' })
  await first.finishAuth(new URL(user.leftFor ?? '').searchParams)
  const client = new Client(info, options)
  await client.connect(transport())
  expect((await client.listTools()).tools).toEqual([])
  await client.close()
  expect((await user.open(`${url}/login/clients`)).text).toContain('A published client')
})

async function authorize(id: string, redirect = REDIRECT) {
  const query = new URLSearchParams({
    client_id: id,
    redirect_uri: redirect,
    response_type: 'code',
    code_challenge: 'x'.repeat(43),
    code_challenge_method: 'S256',
    scope: 'mcp',
  })
  const user = browser()
  const page = await user.open(`${url}/auth/authorize?${query.toString()}`)
  return { page, leftFor: user.leftFor }
}

/** Another address for each case, since documents are cached. */
const at = (path: string): string => clientId.replace('client.json', path)

test.each<[string, (id: string) => object | string]>([
  ['of another client', () => metadata()],
  ['without redirect addresses', (id) => metadata({ client_id: id, redirect_uris: [] })],
  [
    'with a redirect to a host without TLS',
    (id) =>
      metadata({
        client_id: id,
        application_type: 'web',
        redirect_uris: [REDIRECT, 'http://evil.example/'],
      }),
  ],
  ['with a secret', (id) => metadata({ client_id: id, client_secret: 'x'.repeat(32) })],
  [
    'with a shared secret as its method',
    (id) => metadata({ client_id: id, token_endpoint_auth_method: 'client_secret_basic' }),
  ],
  ['that is no JSON', () => '<html>'],
  ['of 100 KB', (id) => metadata({ client_id: id, client_name: 'x'.repeat(100_000) })],
])('a document %s is refused, and the browser goes nowhere', async (name, make) => {
  const id = at(`${encodeURIComponent(name)}.json`)
  document = make(id)
  const { page, leftFor } = await authorize(id)
  expect([page.status, leftFor]).toEqual([400, undefined])
})

test('a document that many logins need at the same time is fetched once', async () => {
  const id = at('popular.json')
  document = metadata({ client_id: id })
  const before = connections
  const opened = await Promise.all(Array.from({ length: 20 }, () => authorize(id)))
  expect(opened.map(({ page }) => page.status)).toEqual(opened.map(() => 200))
  expect(connections).toBe(before + 1)
})

test('a redirect address that the document lacks is refused', async () => {
  const { page, leftFor } = await authorize(clientId, 'http://127.0.0.1:9/other')
  expect([page.status, leftFor]).toEqual([400, undefined])
})

test('a redirect of the server is not followed', async () => {
  document = metadata({ client_id: at('moved.json') })
  expect((await authorize(at('moved.json'))).page.status).toBe(400)
})

test.each(['127.0.0.1', '[::1]', '169.254.169.254'])(
  'a document at the internal address %s is not fetched',
  async (host) => {
    const before = connections
    const { page } = await authorize(clientId.replace('localhost', host))
    expect([page.status, connections]).toEqual([400, before])
  },
)

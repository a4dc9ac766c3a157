// The pods of overlays/dev without a cluster: `podman kube play` runs them from the manifests.
import { execFile, spawnSync } from 'node:child_process'
import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ChatSocket, eventually, FormBrowser, testFolder } from '@mcp-host/testkit'
import { freePort } from '@mcp-host/tools/host'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Manifest } from './kubernetes/manifest.ts'
import { parseManifests } from './kubernetes/manifest.ts'
import type { PodFile } from './kubernetes/pods.ts'
import { podFiles, toYaml } from './kubernetes/pods.ts'
import { deployFolder, kustomize, render } from './kubernetes/render.ts'
import { FOUND, looksInContainer, spyServers } from './spy.ts'

const root = join(import.meta.dirname, '..')
const run = promisify(execFile)
const PASSWORD = 'correct horse battery'
const OTHER_SECRET = 'secret-of-the-other-server'
const NETWORK = 'mcp-host-test'
const IMAGES = ['gateway', 'orchestrator', 'mcp-supervisor', 'llm-worker', 'tools']

const missing = [
  { what: 'Kustomize', isThere: kustomize !== undefined },
  { what: 'podman', isThere: spawnSync('podman', ['info']).status === 0 },
].find(({ isThere }) => !isThere)?.what
const reason = missing === undefined ? '' : ` (skipped: there is no ${missing})`

const open = new AsyncDisposableStack()
let url: string
/** Those of the first admin. */
let headers: Record<string, string>

describe.skipIf(missing !== undefined)(`the pods of overlays/dev${reason}`, () => {
  beforeAll(async () => {
    for (const image of IMAGES) {
      const from = ['--file', 'deploy/docker/Dockerfile', '--build-arg', `SERVICE=${image}`, '.']
      await podman('build', '--tag', `mcp-host/${image}:dev`, ...from)
    }
    const folder = open.use(await testFolder()).path
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    const secrets = join(folder, 'secrets')
    await cp(join(deployFolder, 'secrets'), secrets, { recursive: true })
    await run(process.execPath, [join(root, 'tools', 'bus-accounts.ts'), '--out', secrets])
    const overlay = forTest(parseManifests(render('overlays/dev')), url)
    const credentials = parseManifests(render(secrets))
    const pods = podFiles(overlay)
    const volumes = [
      ...[...overlay, ...credentials].flatMap(({ kind, metadata }) =>
        kind === 'ConfigMap' || kind === 'Secret' ? [metadata?.name ?? ''] : [],
      ),
      'nats-0-data',
    ]
    await podman('network', 'create', NETWORK)
    open.defer(async () => void (await podman('network', 'rm', '--force', NETWORK)))
    // Pods share them, so the end of a pod leaves them.
    open.defer(async () => void (await podman('volume', 'rm', '--force', ...volumes)))
    const play = async (name: string, yaml: string, ...options: string[]): Promise<void> => {
      const file = join(folder, `${name}.yaml`)
      await writeFile(file, yaml)
      open.defer(async () => void (await podman('kube', 'down', file)))
      await podman('kube', 'play', ...options, file)
    }
    await play('secrets', toYaml(credentials))
    const natsFirst = pods.toSorted((one, other) => Number(isNats(other)) - Number(isNats(one)))
    for (const { name, services, yaml } of natsFirst) {
      const aliases = services.map((each) => `alias=${each}`).join()
      const published = name === 'gateway-0' ? ['--publish', `127.0.0.1:${port}:3000`] : []
      await play(name, yaml, '--network', `${NETWORK}:${aliases}`, ...published)
    }
    const isThere = async () => (await fetch(`${url}/ready`).catch(() => undefined))?.ok === true
    await eventually(isThere, { what: 'the gateway', limitMs: 120_000 })
    headers = await firstAdmin()
  }, 1_200_000)
  afterAll(() => open.disposeAsync(), 120_000)

  test('a user logs in by the link in the log, and chats with a tool', async () => {
    const isReady = async () =>
      /"everything"[^}]*"ready"/.test(await (await fetch(`${url}/health`, { headers })).text())
    await eventually(isReady, { what: 'the server', limitMs: 90_000 })
    using chat = await ChatSocket.open({ url, headers })
    chat.say('echo hello from a pod')
    await chat.turnsDone()
    expect(chat.text).toContain('hello from a pod')
    expect(JSON.stringify(chat.events)).toContain('"tool":"echo"')
  })

  test('a spy among the MCP servers finds no secret of the host or of other servers', async () => {
    const call = async (server: string, script: string): Promise<string> => {
      const response = await fetch(`${url}/mcp/tools/call`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ name: `${server}__run`, arguments: { script } }),
      })
      return response.text()
    }
    const hide = 'echo $TOKEN; cd; echo literal-of-another > file'
    await eventually(async () => (await call('other', hide)).includes(OTHER_SECRET), {
      what: 'the other server',
      limitMs: 60_000,
    })
    for (const [what, script] of Object.entries(looksInContainer)) {
      const found = await call('spy', script)
      expect.soft(found, what).not.toContain(OTHER_SECRET)
      expect.soft(found, what).not.toMatch(FOUND)
    }
    expect(await call('other', 'echo it runs')).toContain('it runs')
  })

  test('pods are restricted', async () => {
    for (const image of IMAGES.filter((each) => each !== 'tools')) {
      const format = '{{.HostConfig.ReadonlyRootfs}} {{.Config.User}} {{.EffectiveCaps}}'
      const name = `${image}-0-service`
      const expected =
        image === 'mcp-supervisor'
          ? 'true 0:0 [CAP_CHOWN CAP_DAC_OVERRIDE CAP_KILL CAP_SETGID CAP_SETUID]'
          : 'true 1000:1000 []'
      expect((await podman('inspect', name, '--format', format)).trim()).toBe(expected)
    }
  })
})

async function firstAdmin(): Promise<Record<string, string>> {
  const logs = await run('podman', ['logs', 'gateway-0-service'])
  const [link = ''] = /http:\S+\/invite\/[\w-]+/.exec(logs.stdout + logs.stderr) ?? []
  const browser = new FormBrowser(url)
  const form = await browser.open(link)
  await browser.submit(form, { name: 'ann', password: PASSWORD, again: PASSWORD })
  return { cookie: browser.cookies(), origin: url }
}

function isNats({ name }: PodFile): boolean {
  return name === 'nats-0'
}

async function podman(...args: string[]): Promise<string> {
  return (await run('podman', args, { cwd: root, maxBuffer: 2 ** 26 })).stdout
}

/** With the address at which this test finds the gateway, and a spy among the servers. */
function forTest(manifests: readonly Manifest[], address: string): Manifest[] {
  return manifests.map((manifest) => {
    if (manifest.kind !== 'ConfigMap') return manifest
    const { PUBLIC_URL, 'mcp.json': mcpJson } = manifest.data ?? {}
    const data = {
      ...manifest.data,
      ...(PUBLIC_URL && { PUBLIC_URL: address, OTHER_TOKEN: OTHER_SECRET }),
      ...(mcpJson && { 'mcp.json': withSpies(mcpJson) }),
    }
    return { ...manifest, data }
  })
}

function withSpies(mcpJson: string): string {
  const { servers } = JSON.parse(mcpJson) as { readonly servers: object }
  return JSON.stringify({ servers: { ...servers, ...spyServers('node') } })
}

import { expect, test } from 'vitest'

import { openWorkspace } from '@mcp-host/mcp-testkit'
import { loadMcpConfig } from '../../load-mcp-config.ts'

const HEAD = `
hosting:
  platform: node
  port: 3000

master_oauth:
  authorization_endpoint: https://login.example/authorize
  token_endpoint: https://login.example/token
  client_id: host
  redirect_uri: http://localhost:3000/oauth/callback
  scopes:
    - openid
`

async function load(text: string, name = 'config.yaml') {
  const workspace = await openWorkspace()
  const paths: string[] = []
  const file = await workspace.write(name, text)
  const variables = { GOOGLE_ID: 'id', GOOGLE_SECRET: 'secret', MASTER_SECRET: 'master' }
  const { servers, faulty = {} } = await loadMcpConfig(file, variables, {
    onWarning: ({ path }) => paths.push(path),
  })
  return { servers, faulty, warnings: paths.filter((path) => path !== 'hosting') }
}

const at = (port: number) => ({ type: 'http', url: `http://localhost:${port}/mcp` })

test('one server without a login', async () => {
  const { servers, faulty, warnings } = await load(`${HEAD}
servers:
  - id: plain
    type: local
    auth_strategy: bypass_auth
    config:
      port: 4001
      environment: {}
`)
  expect(servers).toMatchObject({ plain: at(4001) })
  expect({ faulty, warnings }).toEqual({ faulty: {}, warnings: ['master_oauth'] })
})

test('one server with the login of the master', async () => {
  const { servers } = await load(`${HEAD}
servers:
  - id: example
    type: local
    auth_strategy: master_oauth
    config: { environment: {}, args: [], port: 3333 }
`)
  const auth = {
    type: 'token-exchange',
    issuer: 'https://login.example',
    tokenEndpoint: 'https://login.example/token',
    clientId: 'host',
    scope: 'openid',
  }
  expect(servers).toMatchObject({ example: { ...at(3333), auth } })
})

test('one server with a login at another provider', async () => {
  const { servers } = await load(`${HEAD}
servers:
  - id: public
    type: local
    auth_strategy: bypass_auth
    config: { port: 4200 }

  - id: mail
    type: local
    auth_strategy: proxy_oauth
    auth_config:
      provider: google
      authorization_endpoint: https://accounts.google.com/o/oauth2/v2/auth
      token_endpoint: https://oauth2.googleapis.com/token
      client_id: \${GOOGLE_ID}
      client_secret: env:GOOGLE_SECRET
      scopes: [openid, email]
    config: { port: 4201 }
`)
  expect(servers['public']).not.toHaveProperty('auth')
  expect(servers['mail']).toMatchObject({
    ...at(4201),
    auth: {
      type: 'oauth',
      issuer: 'https://accounts.google.com',
      clientId: 'id',
      clientSecret: 'secret',
      scope: 'openid email',
    },
  })
})

test.each(['health', 'weighted'])('two instances with routing (%s)', async (strategy) => {
  const { servers, warnings } = await load(`${HEAD}
logging:
  level: info
routing:
  loadBalancer:
    strategy: ${strategy}
  circuitBreaker: { failureThreshold: 3, successThreshold: 2, recoveryTimeoutMs: 10000 }
  retry:
    maxRetries: 3
    baseDelayMs: 200
    retryOn: { networkErrors: true, httpStatuses: [408, 429], httpStatusClasses: [5] }
servers:
  - id: compute
    type: local
    auth_strategy: bypass_auth
    config:
      port: 4101
  - id: compute
    type: local
    auth_strategy: bypass_auth
    config:
      port: 4102
`)
  expect(servers).toMatchObject({
    compute: {
      ...at(4101),
      instances: [{ url: at(4101).url }, { url: at(4102).url }],
      balance: strategy === 'health' ? 'health-scored' : 'weighted',
      circuitBreaker: { failures: 3, openMs: 10_000 },
    },
  })
  expect(warnings).toEqual([
    'master_oauth',
    'logging',
    'routing.circuitBreaker.successThreshold',
    'routing.retry',
  ])
})

test('servers without an address are faults, as they cannot be reached there either', async () => {
  const { servers, faulty } = await load(`${HEAD}
routing:
  loadBalancer: { strategy: round_robin }
servers:
  - id: local-a
    type: local
    auth_strategy: bypass_auth
    config: {}
  - id: local-b
    type: local
    auth_strategy: bypass_auth
    config: {}
`)
  expect(servers).toEqual({})
  expect(faulty).toMatchObject({
    'local-a': [{ line: 17, column: 5, path: 'servers[0].url', message: 'is missing' }],
    'local-b': [{ line: 21, column: 5, path: 'servers[1].url', message: 'is missing' }],
  })
})

test('the defaults in JSON have no servers', async () => {
  const text = JSON.stringify({
    master_oauth: { token_endpoint: 'https://a.example', client_secret: 'env:MASTER_SECRET' },
    hosting: { platform: 'node' },
    logging: { level: 'info' },
    routing: { loadBalancer: { strategy: 'round_robin' }, retry: { maxRetries: 2 } },
    servers: [],
  })
  const { servers, faulty, warnings } = await load(text, 'default.json')
  expect({ servers, faulty }).toEqual({ servers: {}, faulty: {} })
  expect(warnings).toEqual([
    'master_oauth',
    'logging',
    'routing.loadBalancer.strategy',
    'routing.retry',
  ])
})

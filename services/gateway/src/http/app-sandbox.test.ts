import { fastify } from 'fastify'
import { expect, test } from 'vitest'
import { replyError } from '../edge/error-reply.ts'
import { addAppSandbox, sandboxPolicy } from './app-sandbox.ts'

const OWN = 'chat.example.org'

function directives(policy: string): Record<string, string> {
  return Object.fromEntries(
    policy.split('; ').map((each) => {
      const [name = '', ...sources] = each.split(' ')
      return [name, sources.join(' ')]
    }),
  )
}

test('the sandbox has no origin, and reaches nothing', () => {
  const policy = sandboxPolicy({}, OWN)
  expect(directives(policy)).toEqual({
    sandbox: 'allow-scripts allow-forms',
    'default-src': "'none'",
    'script-src': "'unsafe-inline'",
    'style-src': "'unsafe-inline'",
    'img-src': 'data: blob:',
    'font-src': 'data: blob:',
    'media-src': 'data: blob:',
    'connect-src': "'none'",
    'frame-src': "'none'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'self'",
  })
  expect(policy).not.toContain('allow-same-origin')
})

test('domains that a user has allowed are in its policy, each for its purpose', () => {
  const query = {
    connect: ['https://api.example.com', 'wss://live.example.com:8443'],
    resource: 'https://*.cdn.example.com',
  }
  expect(directives(sandboxPolicy(query, OWN))).toMatchObject({
    'connect-src': 'https://api.example.com wss://live.example.com:8443',
    'script-src': "'unsafe-inline' https://*.cdn.example.com",
    'img-src': 'data: blob: https://*.cdn.example.com',
    'frame-src': "'none'",
  })
})

test.each([
  '',
  '*',
  'https:',
  'https://*',
  'https://*.com',
  'https://localhost',
  'https://10.0.0.1',
  'https://[::1]',
  'http://example.com',
  'data:',
  "'self'",
  "'unsafe-eval'",
  'https://example.com/a',
  'https://example.com https://*',
  'https://example.com; script-src *',
  'https://example.com\r\nx: y',
  'https://example.com\n',
  'https://EXAMPLE.com',
  `https://${OWN}`,
  `https://${OWN}:8080`,
  `https://*.example.org`,
])('%j is no domain that an app may reach', (domain) => {
  for (const field of ['connect', 'resource'] as const) {
    const refused = expect.objectContaining({ code: 'invalid', field })
    expect(() => sandboxPolicy({ [field]: [domain] }, OWN)).toThrow(refused)
  }
})

test('scripts come by no socket, and 20 domains are enough', () => {
  expect(() => sandboxPolicy({ resource: 'wss://example.com' }, OWN)).toThrow('resource: must be')
  const connect = Array.from({ length: 21 }, (_, index) => `https://a${index}.example.com`)
  expect(() => sandboxPolicy({ connect }, OWN)).toThrow('connect: names more than 20')
})

test('the page of the sandbox says nothing of the host, and is refused with a wrong domain', async () => {
  await using app = fastify()
  app.setErrorHandler((error, _, reply) => replyError(reply, error))
  addAppSandbox(app)
  const page = await app.inject({ url: '/app-sandbox', headers: { host: 'CHAT.example.org' } })
  expect(page.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': sandboxPolicy({}, OWN),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'permissions-policy': expect.stringContaining('camera=()'),
  })
  const own = await app.inject({
    url: `/app-sandbox?connect=https://${OWN}`,
    headers: { host: 'CHAT.example.org' },
  })
  expect([own.statusCode, own.json().error.field]).toEqual([400, 'connect'])
})

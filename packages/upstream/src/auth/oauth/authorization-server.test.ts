import { expect, test } from 'vitest'

import { findAuthorizationServer, resourceOf } from './authorization-server.ts'

const url = 'https://notes.example/mcp'
const described = new Map<string, object>()
const asked: string[] = []
const fetchFn = async (input: string | URL | Request): Promise<Response> => {
  const address = new Request(input).url
  asked.push(address)
  const found = described.get(address)
  return found === undefined ? new Response(null, { status: 404 }) : Response.json(found)
}
const server = { url, challenge: {}, fetchFn }
const describeServer = (issuer: string, named = issuer): void => {
  described.set(`${issuer}/.well-known/oauth-authorization-server`, {
    issuer: named,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    response_types_supported: ['code'],
  })
}

test('the first authorization server that answers is taken, and that of an earlier login before it', async () => {
  describeServer('https://b.example')
  describeServer('https://c.example')
  const named = ['https://a.example', 'https://b.example', 'https://c.example']
  expect((await findAuthorizationServer(server, named)).issuer).toBe('https://b.example')
  const preferred = await findAuthorizationServer(server, named, 'https://c.example')
  expect(preferred.issuer).toBe('https://c.example')
})

test('an authorization server that says that it is another one is none', async () => {
  describeServer('https://evil.example', 'https://b.example')
  await expect(findAuthorizationServer(server, ['https://evil.example'])).rejects.toThrow('ssuer')
})

test('a server that names very many costs five requests each', async () => {
  asked.length = 0
  const named = Array.from({ length: 100 }, (_, index) => `https://${index}.invalid.example`)
  await expect(findAuthorizationServer(server, named)).rejects.toThrow('4.invalid.example')
  expect(new Set(asked.map((each) => new URL(each).host)).size).toBe(5)
})

test('a server that names none has it at its own address, as in the revision 2025-03-26', async () => {
  expect(await findAuthorizationServer(server)).toEqual({
    issuer: 'https://notes.example/',
    metadata: undefined,
  })
})

test('what a server says about itself is taken from the address that it names', async () => {
  described.set('https://notes.example/about', { resource: url, scopes_supported: ['read'] })
  const resourceMetadataUrl = new URL('https://notes.example/about')
  const about = await resourceOf({ ...server, challenge: { resourceMetadataUrl } })
  expect(about).toMatchObject({ resource: url, scopes_supported: ['read'] })
  expect(await resourceOf(server)).toBeUndefined()
})

test('a server that claims to be another one is refused', async () => {
  described.set('https://notes.example/.well-known/oauth-protected-resource/mcp', {
    resource: 'https://bank.example/mcp',
  })
  await expect(resourceOf(server)).rejects.toThrow('says that it is https://bank.example/mcp')
})

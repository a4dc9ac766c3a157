import { expect, test } from 'vitest'
import { AuthError } from './auth-error.ts'
import { challenge } from './challenge.ts'
import { describedResource, resourceMetadata, resourceMetadataUrl } from './resource-metadata.ts'

const METADATA = 'https://host.example/.well-known/oauth-protected-resource/mcp'

test('a request without a credential is told where to get one, without an error code', () => {
  const fault = new AuthError('missing', 'log in first', ['mcp'])
  expect(challenge(fault, METADATA)).toBe(`Bearer scope="mcp", resource_metadata="${METADATA}"`)
})

test('a scope that lacks is named with all that the operation needs', () => {
  const fault = new AuthError('insufficient_scope', 'this needs more', ['mcp', 'admin'])
  expect(challenge(fault, METADATA)).toBe(
    `Bearer error="insufficient_scope", error_description="this needs more", scope="mcp admin", resource_metadata="${METADATA}"`,
  )
})

test('a description cannot end the header or its quotes', () => {
  const fault = new AuthError('invalid_token', 'a "b"\r\nSet-Cookie: x\\')
  expect(challenge(fault)).toBe(
    'Bearer error="invalid_token", error_description="a  b   Set-Cookie: x "',
  )
})

test('the metadata of a resource stands before its path', () => {
  expect(resourceMetadataUrl('https://host.example/mcp')).toBe(METADATA)
  expect(resourceMetadataUrl('https://host.example')).toBe(
    'https://host.example/.well-known/oauth-protected-resource',
  )
  expect(describedResource('/.well-known/oauth-protected-resource/mcp/servers/x')).toBe(
    '/mcp/servers/x',
  )
  expect(describedResource('/.well-known/oauth-protected-resource')).toBe('/')
  expect(describedResource('/.well-known/openid-configuration')).toBeUndefined()
  expect(
    resourceMetadata('https://host.example/mcp', ['https://idp.example'], ['mcp']),
  ).toMatchObject({
    resource: 'https://host.example/mcp',
    authorization_servers: ['https://idp.example'],
    scopes_supported: ['mcp'],
  })
})

import { expect, test } from 'vitest'
import { sandboxPaths, sandboxProblems } from './sandbox-paths.ts'

const listOf = (text: string | undefined): string[] => text?.split(',') ?? []

test('data, configuration with secrets and files of secrets are hidden, and the program cannot be changed', () => {
  const env = { GEMINI_API_KEY_FILE: 'keys/gemini', LLM_CONFIG: '/etc/llm.json' }
  const paths = sandboxPaths({ ...env, SANDBOX_HIDDEN: '/mine' }, '/host', '/data')
  const hidden = ['/data', '/host/.env', '/etc/llm.json', '/host/mcp.json', '/host/keys/gemini']
  expect(listOf(paths['SANDBOX_HIDDEN'])).toEqual([...hidden, '/mine'])
  expect(listOf(paths['SANDBOX_READ_ONLY'])).toEqual(
    expect.arrayContaining(['/host', '/host/policy.json', '/host/bundles.json']),
  )
  expect(paths['SANDBOX_WRITABLE']).toBe('/host/examples')
})

test('files that are no secrets of the host stay visible, as certificates of other programs', () => {
  const env = { NIX_SSL_CERT_FILE: '/etc/ssl/ca.crt', NATS_TLS_CERT: '/etc/nats/ca.crt' }
  expect(sandboxPaths(env, '/host', '/data')['SANDBOX_HIDDEN']).not.toContain('.crt')
})

test('a path with a comma is a fault, since it could not be hidden', () => {
  expect(sandboxProblems({}, '/host', '/da,ta')).toEqual([expect.stringMatching(/^\/da,ta has/)])
  expect(sandboxProblems({}, '/host', '/data')).toEqual([])
})

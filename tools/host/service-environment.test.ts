import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ALL_SETTINGS } from './settings.ts'
import { serviceEnvironment } from './service-environment.ts'

const OUTER = {
  PATH: '/bin',
  HTTPS_PROXY: 'http://proxy:3128',
  BRAVE_API_KEY: 'brave',
  LIBRARY_TOKEN: 'library',
  GEMINI_API_KEY: 'gemini',
  OIDC_CLIENT_SECRET: 'oidc',
  OPERATOR_KEY: 'operator',
  AWS_SECRET_ACCESS_KEY: 'aws',
}

function supervisorEnvironment(mcpJson: string | Buffer): Record<string, string | undefined> {
  const file = join(mkdtempSync(join(tmpdir(), 'environment-')), 'mcp.json')
  writeFileSync(file, mcpJson)
  const { MCP_JSON_PATH: _, ...env } = serviceEnvironment('mcp-supervisor', {
    ...OUTER,
    MCP_JSON_PATH: file,
  })
  return env
}

test('a supervisor gets the variables that mcp.json names, what servers inherit, and no secret of others', () => {
  const servers = {
    search: { command: 'x', env: { KEY: '${BRAVE_API_KEY}' } },
    library: { command: 'x', env: { TOKEN: '${env:LIBRARY_TOKEN}' } },
  }
  const { PATH, HTTPS_PROXY, BRAVE_API_KEY, LIBRARY_TOKEN, ...others } = supervisorEnvironment(
    JSON.stringify({ servers }),
  )
  expect({ PATH, HTTPS_PROXY, BRAVE_API_KEY, LIBRARY_TOKEN }).toEqual({
    PATH: '/bin',
    HTTPS_PROXY: 'http://proxy:3128',
    BRAVE_API_KEY: 'brave',
    LIBRARY_TOKEN: 'library',
  })
  expect(Object.values(others).filter((value) => value !== undefined)).toEqual([])
})

test('a supervisor gets the variables of a file in UTF-16, and of a faulty one', () => {
  const text = '\ufeff{ "servers": { "a": { "env": { "K": "${BRAVE_API_KEY:-}" },'
  expect(supervisorEnvironment(Buffer.from(text, 'utf16le'))['BRAVE_API_KEY']).toBe('brave')
})

test.each(['gateway', 'orchestrator', 'mcp-supervisor'] as const)(
  'the environment of %s has no secret of another service',
  (service) => {
    const own = ['every service', service]
    const secrets = ALL_SETTINGS.filter(({ name }) => !own.includes(name)).flatMap(({ settings }) =>
      Object.values(settings).flatMap(({ env, isSecret }) => (isSecret === true ? [env] : [])),
    )
    expect(secrets).toContain('GEMINI_API_KEY')
    const env = serviceEnvironment(
      service,
      Object.fromEntries(secrets.map((each) => [each, 'secret'])),
    )
    expect(Object.values(env)).not.toContain('secret')
  },
)

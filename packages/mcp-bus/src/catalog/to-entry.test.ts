import { ServerStartupError, type ServerSnapshot } from '@mcp-host/upstream'
import { expect, test } from 'vitest'
import { toEntry } from './to-entry.ts'

const snapshot: ServerSnapshot = {
  name: 'it',
  type: 'stdio',
  state: 'starting',
  since: 0,
  restarts: 0,
  phase: 'installing',
  tools: [],
  prompts: [],
  resources: [],
  resourceTemplates: [],
}
const config = { type: 'stdio', command: 'npx', args: [], env: {}, cwd: '.' } as const

test('a server that has failed to start is not called installing', () => {
  expect(toEntry('us', config, snapshot).phase).toBe('installing')
  const error = new ServerStartupError('it ended', { server: 'it', output: ['no disk'] })
  const failing = toEntry('us', config, { ...snapshot, error })
  expect(failing).toMatchObject({ state: 'starting', error: 'it ended', output: ['no disk'] })
  expect(failing).not.toHaveProperty('phase')
})

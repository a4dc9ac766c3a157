import { delimiter, join } from 'node:path'
import { ALL_SETTINGS } from '../host/settings.ts'

/** The environment without the developer's settings, which must not affect the tests. */
export function testEnvironment(outer: NodeJS.ProcessEnv, root: string): NodeJS.ProcessEnv {
  const tools = ['NATS_SERVER_BIN', 'MCP_HOST_CACHE']
  const settings = new Set(
    ALL_SETTINGS.flatMap((each) => Object.values(each.settings).map(({ env: name }) => name)),
  )
  // Programs that tests write into temporary folders would stay in the developer's compile cache forever.
  for (const name of [...tools, 'NODE_ENV', 'MCP_HOST_LIFELINE_FD', 'NODE_COMPILE_CACHE']) {
    if (tools.includes(name)) settings.delete(name)
    else settings.add(name)
  }
  const isForeign = (name: string): boolean => settings.has(name) || name.endsWith('_API_KEY')
  const kept = Object.entries(outer).filter(([name]) => !isForeign(name))
  const binaries = join(root, 'node_modules', '.bin')
  return { ...Object.fromEntries(kept), PATH: [binaries, outer['PATH']].join(delimiter) }
}

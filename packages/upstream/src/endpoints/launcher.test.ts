import { expect, test } from 'vitest'

import type { StdioServerConfig } from './stdio.ts'
import { launcherOf } from './launcher.ts'

const stdio = (command: string, ...args: string[]): StdioServerConfig => {
  return { type: 'stdio', command, args, env: {}, cwd: '/' }
}

test.each([
  ['npx', '-y', 'server'],
  ['/usr/bin/npx', 'server'],
  ['C:\\node\\npx.cmd', 'server'],
  ['cmd', '/c', 'npx', '-y', 'server'],
  ['uvx', 'server'],
  ['uv', 'run', 'server.py'],
  ['bunx', 'server'],
  ['pnpm', '--silent', 'dlx', 'server'],
  ['docker', 'run', '-i', '--rm', 'server'],
])('a launcher that may fetch its server is detected: %s %s %s', (command, ...args) => {
  expect(launcherOf(stdio(command, ...args))).toBeTypeOf('string')
})

test.each([
  ['node', 'npx.js'],
  ['bun', 'server.ts'],
  ['docker-mcp', 'run'],
  ['constructor', 'x'],
])('a command that fetches nothing is no launcher: %s %s', (command, ...args) => {
  expect(launcherOf(stdio(command, ...args))).toBeUndefined()
})

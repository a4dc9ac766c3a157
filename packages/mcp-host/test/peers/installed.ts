import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

import type { StdioServerConfig } from '../../src/index.ts'

const { resolve } = createRequire(import.meta.url)

/** The path of the program of an installed package. */
export function programOf(packageName: string, file = 'dist/index.js'): string {
  return join(dirname(resolve(`${packageName}/package.json`)), file)
}

/** The configuration of a server that runs a JavaScript program. */
export function nodeServer(
  args: readonly string[],
  options: Partial<StdioServerConfig> = {},
): StdioServerConfig {
  const cwd = import.meta.dirname
  return { type: 'stdio', command: process.execPath, args, env: {}, cwd, ...options }
}

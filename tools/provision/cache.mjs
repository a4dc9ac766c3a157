import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/** Where downloads are kept between runs. */
export function cacheFolder(env = process.env, platform = process.platform) {
  if (env.MCP_HOST_CACHE) return env.MCP_HOST_CACHE
  if (platform === 'win32' && env.LOCALAPPDATA) return join(env.LOCALAPPDATA, 'mcp-host')
  if (platform === 'darwin') return join(homedir(), 'Library', 'Caches', 'mcp-host')
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'mcp-host')
}

/** Where Node keeps the code that it has compiled, so that the next start need not load what strips its types. */
export function compileCacheFolder(env = process.env) {
  return env.NODE_COMPILE_CACHE || join(cacheFolder(env), 'compiled')
}

/** Marks what only runs on this kind of machine: home folders are shared between machines. */
export const platformName = `${process.platform}-${process.arch}`

/**
 * Fills `folder` once. The filling happens in a folder beside it that is renamed at the end: a folder that exists is
 * complete, and of several runs at once the first one wins.
 */
export async function installOnce(folder, fill) {
  if (existsSync(folder)) return
  mkdirSync(dirname(folder), { recursive: true })
  const draft = mkdtempSync(`${folder}.draft-`)
  try {
    await fill(draft)
    renameSync(draft, folder)
  } catch (error) {
    // Another run has created the folder meanwhile, which is the goal.
    if (!existsSync(folder)) throw error
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

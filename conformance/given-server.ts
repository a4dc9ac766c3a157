import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { Guardian } from '@mcp-host/process'
import { spawnGuarded } from '@mcp-host/process'
import { freePort } from '../tools/host/listen.ts'
import { untilStarted } from '../tools/host/until-started.ts'

const START_LIMIT_MS = 20_000

/**
 * Starts a server that is not the fixture by a shell command. The server must serve MCP at `/mcp` of the PORT in its
 * environment. Its output goes to `server.log`. Resolves with its URL.
 */
export async function startGivenServer(
  guardian: Guardian,
  command: string,
  folder: string,
): Promise<string> {
  await mkdir(folder, { recursive: true })
  const port = await freePort()
  const child = await spawnGuarded(guardian, {
    command: '/bin/sh',
    args: ['-c', command],
    cwd: process.cwd(),
    env: { PATH: process.env['PATH'], PORT: String(port) },
    stdin: 'ignore',
  })
  const log = createWriteStream(join(folder, 'server.log'))
  for (const output of [child.stdout, child.stderr]) output?.pipe(log, { end: false })
  const isStarted = await untilStarted(child, START_LIMIT_MS, () => canConnect(port))
  if (isStarted) return `http://127.0.0.1:${port}/mcp`
  child.signal('SIGKILL')
  const { code } = await child.exited
  throw new Error(`the server did not start (exit code ${code}): ${command}`)
}

async function canConnect(port: number): Promise<true | undefined> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    // The server does not listen yet.
    return undefined
  } finally {
    socket.destroy()
  }
}

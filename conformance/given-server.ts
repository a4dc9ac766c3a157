import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { eventually } from '@mcp-host/testkit'
import type { Guardian } from 'mcp-host/process'
import { spawnGuarded } from 'mcp-host/process'

/**
 * Starts a server that is not the fixture by a command line. It has to listen at the PORT of its environment and serve
 * MCP at `/mcp`; what it says goes to `server.log`. Resolves with its URL.
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
  const ended = child.exited.then(({ code }) => {
    throw new Error(`the server ended with ${code}: ${command}`)
  })
  await Promise.race([eventually(() => isListening(port), { what: command }), ended])
  return `http://127.0.0.1:${port}/mcp`
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Not a pipe's name: it listens on a port.
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    // Not yet.
    return false
  } finally {
    socket.destroy()
  }
}

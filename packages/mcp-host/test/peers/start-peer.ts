import { fixturePath } from '@mcp-host/mcp-testkit'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** Runs a peer that listens, until `owner` is disposed; resolves with its URL. */
export async function startPeer(
  owner: AsyncDisposableStack,
  name: string,
  ...args: string[]
): Promise<string> {
  return run(owner, [fixturePath(`peers/${name}`), ...args], {}, /\w+:\/\/\S+/)
}

/** Runs a program that takes its port from `PORT`; resolves with the port once its output matches `ready`. */
export async function startOnPort(
  owner: AsyncDisposableStack,
  args: readonly string[],
  ready: RegExp,
): Promise<number> {
  const port = await freePort()
  await run(owner, args, { PORT: String(port) }, ready)
  return port
}

/** Resolves with the first match in the output. */
async function run(
  owner: AsyncDisposableStack,
  args: readonly string[],
  env: object,
  ready: RegExp,
): Promise<string> {
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env } })
  const exited = once(child, 'exit')
  owner.defer(async () => {
    child.kill('SIGKILL')
    await exited
  })
  return new Promise((resolve, reject) => {
    let output = ''
    const read = (chunk: Buffer): void => {
      output += chunk.toString()
      const [match] = ready.exec(output) ?? []
      if (match !== undefined) resolve(match)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    void exited.then(() => reject(new Error(`${args.join(' ')} ended: ${output}`)))
  })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

import { chmod, mkdir, open, readFile } from 'node:fs/promises'
import { constants } from 'node:os'
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'

import { describe, expect, test } from 'vitest'

import { eventually, isAlive, openWorkspace, type Workspace } from '@mcp-host/mcp-testkit'
import { Guardian } from './guardian.ts'
import { spawnGuarded, type SpawnOptions } from './spawn-guarded.ts'

const SIGTERM_BIT = 1n << BigInt(constants.signals.SIGTERM - 1)
const env = { PATH: process.env['PATH'] }

async function run(options: Partial<SpawnOptions> & Pick<SpawnOptions, 'command'>) {
  await using guardian = new Guardian()
  const child = await spawnGuarded(guardian, { cwd: '/', env, ...options })
  child.stdin?.end()
  const [out, exit] = await Promise.all([
    child.stdout === null ? '' : text(child.stdout),
    child.exited,
  ])
  await child.gone
  return { out, exit }
}

const node = (script: string, ...args: string[]) => ({
  command: process.execPath,
  args: ['-e', script, '--', ...args],
})

/** Appends its own id and that of a child to a file; both ignore signals and run until they are killed. */
const family = (workspace: Workspace): SpawnOptions => ({
  ...workspace.fixture('stubborn', workspace.path('pids')),
  env,
})

async function familyOf(workspace: Workspace): Promise<number[]> {
  return eventually(async () => {
    const pids = await workspace.lines('pids')
    return pids.length === 2 && pids.map(Number)
  })
}

/** Whether the shell has run its `trap`, which only Linux reveals. */
async function hasIgnored(pid: number): Promise<boolean> {
  if (process.platform !== 'linux') return true
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const mask = BigInt(`0x${/^SigIgn:\s*(\w+)$/m.exec(status)?.[1] ?? 0}`)
  return (mask & SIGTERM_BIT) !== 0n
}

describe('a guarded process', () => {
  test('a guarded process gets its arguments unchanged, including characters special to shells', async () => {
    const args = ['a b', '$(id)', '`id`', ';', '', '"', "'", '-n', '*', '\n', '\\']
    const script = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))'
    const { out } = await run(node(script, ...args))
    expect(JSON.parse(out)).toEqual(args)
  })

  test('a guarded process reports how it ended', async () => {
    expect((await run(node('process.exit(7)'))).exit).toEqual({ code: 7, signal: null })
    const killed = await run(node('process.kill(process.pid, "SIGKILL")'))
    expect(killed.exit).toEqual({ code: null, signal: 'SIGKILL' })
  })

  test('a guarded process leads its own process group', async () => {
    const { out } = await run({ command: 'sh', args: ['-c', 'ps -o pgid= -p $$; echo $$'] })
    const [group, pid] = out.trim().split(/\s+/)
    expect(group).toBe(pid)
  })

  test('the guardian of a process has an environment, so that no sweep takes it for one that starts', async () => {
    await using guardian = new Guardian()
    const child = await spawnGuarded(guardian, { cwd: '/', env, ...node('') })
    await eventually(async () => (await readFile(`/proc/${guardian.pid}/environ`, 'utf8')) !== '')
    child.stdin?.end()
    await child.gone
  })

  test('a guarded process does not inherit the pipe to the guardian, which must close with the host', async () => {
    const list = 'for fd in /proc/self/fd/*; do readlink $fd; done'
    const { out } = await run({ command: 'sh', args: ['-c', list], stderr: 'ignore' })
    const sockets = out.split('\n').filter((file) => file.startsWith('socket:'))
    // Its own stdin and stdout; stderr goes to /dev/null.
    expect(sockets).toHaveLength(2)
  })

  test('a guarded process has the streams that the caller sets', async () => {
    const workspace = await openWorkspace()
    await using file = await open(workspace.path('out'), 'w')
    const options = { stdin: 'ignore', stdout: file.fd, stderr: 'inherit' } as const
    await run({ command: 'sh', args: ['-c', 'cat; echo written'], ...options })
    expect(await workspace.lines('out')).toEqual(['written'])
  })

  test('the program of a guarded process is found on its own PATH, or in its folder', async () => {
    const workspace = await openWorkspace()
    const file = await workspace.write('tool', '#!/bin/sh\necho mine\n')
    await expect(run({ command: file })).rejects.toThrow('is not executable')
    await chmod(file, 0o755)
    const cwd = workspace.folder
    expect((await run({ command: './tool', cwd })).out).toBe('mine\n')
    expect((await run({ command: 'tool', env: { PATH: `/bin:${cwd}` } })).out).toBe('mine\n')
  })

  test.each([
    [
      'no-such-command',
      'the command "no-such-command" was not found on PATH: install it, or give its path',
    ],
    ['./no-such-command', 'the command "./no-such-command" does not exist'],
    ['/tmp', 'the command "/tmp" does not exist'],
  ])(
    'a guarded process is refused before the start when the command is %s',
    async (command, message) => {
      await expect(run({ command })).rejects.toMatchObject({ name: 'LaunchError', message })
    },
  )

  test.each(['', ':', '.:relative', undefined])(
    'the program of a guarded process is not searched in its folder when PATH is %o',
    async (PATH) => {
      const workspace = await openWorkspace()
      const cwd = workspace.folder
      for (const name of ['tool', 'relative/tool']) {
        await mkdir(dirname(workspace.path(name)), { recursive: true })
        await chmod(await workspace.write(name, '#!/bin/sh\n'), 0o755)
      }
      await expect(run({ command: 'tool', cwd, env: { PATH } })).rejects.toThrow(
        'not found on PATH',
      )
    },
  )

  test('a guarded process is refused without quoting its arguments when they are too long for the system', async () => {
    const args = ['x'.repeat(1 << 20)]
    await expect(run({ command: 'true', args })).rejects.toMatchObject({ name: 'LaunchError' })
  })

  test('a guarded process is refused before the start when its folder does not exist', async () => {
    await expect(run({ command: 'sh', cwd: '/nowhere' })).rejects.toThrow('working directory')
  })

  test('the children of a guarded process are killed when it ends', async () => {
    const workspace = await openWorkspace()
    await using guardian = new Guardian()
    const child = await spawnGuarded(guardian, family(workspace))
    const pids = await familyOf(workspace)
    process.kill(child.pid, 'SIGKILL')
    await child.gone
    expect(pids.filter(isAlive)).toEqual([])
  })
})

describe('processes that leave the group', () => {
  async function startStrays(guardian: Guardian, more: SpawnOptions['env'] = {}) {
    const workspace = await openWorkspace()
    const fixture = workspace.fixture('nasty/strays', workspace.path('pids'))
    const child = await spawnGuarded(guardian, { ...fixture, env: { ...env, ...more } })
    const pids = await eventually(async () => {
      const lines = await workspace.lines('pids')
      return lines.length === 3 && lines.map(Number)
    })
    return { child, pids }
  }

  test('processes that leave the group are killed when the guarded process ends', async () => {
    await using guardian = new Guardian()
    const { child, pids } = await startStrays(guardian)
    process.kill(child.pid, 'SIGKILL')
    await child.gone
    expect(pids.filter(isAlive)).toEqual([])
  })

  test('processes that leave the group are found even if the caller set a tag', async () => {
    await using guardian = new Guardian()
    const { child, pids } = await startStrays(guardian, { MCP_HOST_PROCESS: 'mine' })
    child.signal('SIGKILL')
    await child.gone
    expect(pids.filter(isAlive)).toEqual([])
  })

  test('processes that leave the group survive the end of another guarded process', async () => {
    await using guardian = new Guardian()
    const { pids } = await startStrays(guardian)
    const other = await spawnGuarded(guardian, { command: 'true', cwd: '/', env })
    await other.gone
    expect(pids.filter(isAlive)).toEqual(pids)
  })

  test('processes that leave the group are killed when the guardian is disposed', async () => {
    const guardian = new Guardian()
    const { pids } = await startStrays(guardian)
    await guardian[Symbol.asyncDispose]()
    await eventually(() => pids.filter(isAlive).length === 0)
  })
})

describe('the guardian', () => {
  test('the guardian kills registered processes when it is disposed', async () => {
    const workspace = await openWorkspace()
    const guardian = new Guardian()
    const child = await spawnGuarded(guardian, family(workspace))
    const pids = await familyOf(workspace)
    await guardian[Symbol.asyncDispose]()
    await child.gone
    expect(pids.filter(isAlive)).toEqual([])
  })

  test('the guardian ignores the signals that end a session', async () => {
    await using guardian = new Guardian()
    const child = await spawnGuarded(guardian, { command: 'cat', cwd: '/', env })
    const { pid = 0 } = guardian
    await eventually(() => hasIgnored(pid))
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(pid, signal)
    child.stdin?.end()
    await child.gone
    expect(isAlive(pid)).toBe(true)
  })

  test('the guardian is replaced for later starts when it was killed', async () => {
    const workspace = await openWorkspace()
    const guardian = new Guardian()
    const first = await spawnGuarded(guardian, { command: 'cat', cwd: '/', env })
    const { pid = 0 } = guardian
    process.kill(pid, 'SIGKILL')
    await eventually(() => guardian.pid !== pid)
    await spawnGuarded(guardian, family(workspace))
    const pids = await familyOf(workspace)
    expect(guardian.pid).not.toBe(pid)
    // The replacement knows the registered processes of the killed guardian, too.
    await guardian[Symbol.asyncDispose]()
    await first.gone
    await eventually(() => pids.filter(isAlive).length === 0)
  })

  test('the guardian is replaced after a short life, and still kills registered processes', async () => {
    const workspace = await openWorkspace()
    const guardian = new Guardian()
    const child = await spawnGuarded(guardian, family(workspace))
    const pids = await familyOf(workspace)
    const { pid = 0 } = guardian
    process.kill(pid, 'SIGKILL')
    await eventually(() => guardian.pid !== undefined && guardian.pid !== pid)
    await guardian[Symbol.asyncDispose]()
    await child.gone
    expect(pids.filter(isAlive)).toEqual([])
  })

  test('registered processes are killed when the guardian is dead at the disposal', async () => {
    const workspace = await openWorkspace()
    const guardian = new Guardian()
    const child = await spawnGuarded(guardian, family(workspace))
    const pids = await familyOf(workspace)
    process.kill(guardian.pid ?? 0, 'SIGKILL')
    await guardian[Symbol.asyncDispose]()
    await child.gone
    expect(pids.filter(isAlive)).toEqual([])
  })

  test('the guardian removes a group that has ended, so that it never kills another process with that number', async () => {
    await using guardian = new Guardian()
    const child = await spawnGuarded(guardian, { command: 'cat', cwd: '/', env })
    const input = await guardian.input()
    const written: string[] = []
    const write = input.write.bind(input)
    input.write = (chunk: string) => {
      written.push(chunk)
      return write(chunk, 'utf8')
    }
    child.stdin?.end()
    await child.gone
    expect(written).toEqual([`-${child.pid}\n`])
  })

  test('the guardian refuses starts once it is disposed', async () => {
    const guardian = new Guardian()
    await guardian[Symbol.asyncDispose]()
    await expect(spawnGuarded(guardian, { command: 'cat', cwd: '/', env })).rejects.toThrow(
      'disposed',
    )
  })
})

import { chmod, mkdir, open, readFile } from 'node:fs/promises'
import { constants } from 'node:os'
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'

import { describe, expect, test } from 'vitest'

import { eventually } from '../../test/eventually.ts'
import { isAlive } from '../../test/processes.ts'
import { openWorkspace, type Workspace } from '../../test/workspace.ts'
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

/** Writes its own id and that of a child into a file; both wait for ever and are deaf. */
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

/** Whether the shell has got as far as its `trap`. Elsewhere than on Linux nobody can look. */
async function hasIgnored(pid: number): Promise<boolean> {
  if (process.platform !== 'linux') return true
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const mask = BigInt(`0x${/^SigIgn:\s*(\w+)$/m.exec(status)?.[1] ?? 0}`)
  return (mask & SIGTERM_BIT) !== 0n
}

describe('a guarded process', () => {
  test('gets its arguments as they are, whatever a shell would make of them', async () => {
    const args = ['a b', '$(id)', '`id`', ';', '', '"', "'", '-n', '*', '\n', '\\']
    const script = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))'
    const { out } = await run(node(script, ...args))
    expect(JSON.parse(out)).toEqual(args)
  })

  test('tells how it ended', async () => {
    expect((await run(node('process.exit(7)'))).exit).toEqual({ code: 7, signal: null })
    const killed = await run(node('process.kill(process.pid, "SIGKILL")'))
    expect(killed.exit).toEqual({ code: null, signal: 'SIGKILL' })
  })

  test('leads a process group of its own', async () => {
    const { out } = await run({ command: 'sh', args: ['-c', 'ps -o pgid= -p $$; echo $$'] })
    const [group, pid] = out.trim().split(/\s+/)
    expect(group).toBe(pid)
  })

  test('has no open line to the guardian, which would keep that from noticing our end', async () => {
    const list = 'for fd in /proc/self/fd/*; do readlink $fd; done'
    const { out } = await run({ command: 'sh', args: ['-c', list], stderr: 'ignore' })
    const sockets = out.split('\n').filter((file) => file.startsWith('socket:'))
    // Its own input and output; stderr goes to /dev/null.
    expect(sockets).toHaveLength(2)
  })

  test('has its streams where the caller wants them', async () => {
    const workspace = await openWorkspace()
    await using file = await open(workspace.path('out'), 'w')
    const options = { stdin: 'ignore', stdout: file.fd, stderr: 'inherit' } as const
    await run({ command: 'sh', args: ['-c', 'cat; echo written'], ...options })
    expect(await workspace.lines('out')).toEqual(['written'])
  })

  test('is found on the PATH that it is given, or in its folder', async () => {
    const workspace = await openWorkspace()
    const file = await workspace.write('tool', '#!/bin/sh\necho mine\n')
    await expect(run({ command: file })).rejects.toThrow('is not executable')
    await chmod(file, 0o755)
    const cwd = workspace.folder
    expect((await run({ command: './tool', cwd })).out).toBe('mine\n')
    expect((await run({ command: 'tool', env: { PATH: `/bin:${cwd}` } })).out).toBe('mine\n')
  })

  test.each([
    ['no-such-command', 'the command "no-such-command" was not found on PATH'],
    ['./no-such-command', 'the command "./no-such-command" does not exist'],
    ['/tmp', 'the command "/tmp" does not exist'],
  ])('is refused before the start when there is no %s', async (command, message) => {
    await expect(run({ command })).rejects.toMatchObject({ name: 'LaunchError', message })
  })

  test.each(['', ':', '.:relative', undefined])(
    'is not looked for in its folder when PATH is %o',
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

  test('is refused, and not its arguments told, when they are too long for the system', async () => {
    const args = ['x'.repeat(1 << 20)]
    await expect(run({ command: 'true', args })).rejects.toMatchObject({ name: 'LaunchError' })
  })

  test('is refused before the start when its folder is not there', async () => {
    await expect(run({ command: 'sh', cwd: '/nowhere' })).rejects.toThrow('working directory')
  })

  test('takes along, when it ends, what it started', async () => {
    const workspace = await openWorkspace()
    await using guardian = new Guardian()
    const child = await spawnGuarded(guardian, family(workspace))
    const pids = await familyOf(workspace)
    process.kill(child.pid, 'SIGKILL')
    await child.gone
    expect(pids.filter(isAlive)).toEqual([])
  })
})

describe('what leaves the group of a guarded process', () => {
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

  test('is gone when that is gone', async () => {
    await using guardian = new Guardian()
    const { child, pids } = await startStrays(guardian)
    process.kill(child.pid, 'SIGKILL')
    await child.gone
    expect(pids.filter(isAlive)).toEqual([])
  })

  test('is found though the program was given a mark of somebody else', async () => {
    await using guardian = new Guardian()
    const { child, pids } = await startStrays(guardian, { MCP_HOST_PROCESS: 'mine' })
    child.signal('SIGKILL')
    await child.gone
    expect(pids.filter(isAlive)).toEqual([])
  })

  test('lives on when only another process is gone', async () => {
    await using guardian = new Guardian()
    const { pids } = await startStrays(guardian)
    const other = await spawnGuarded(guardian, { command: 'true', cwd: '/', env })
    await other.gone
    expect(pids.filter(isAlive)).toEqual(pids)
  })

  test('is gone when the guardian is disposed', async () => {
    const guardian = new Guardian()
    const { pids } = await startStrays(guardian)
    await guardian[Symbol.asyncDispose]()
    await eventually(() => pids.filter(isAlive).length === 0)
  })
})

describe('the guardian', () => {
  test('kills what is registered when it is disposed', async () => {
    const workspace = await openWorkspace()
    const guardian = new Guardian()
    const child = await spawnGuarded(guardian, family(workspace))
    const pids = await familyOf(workspace)
    await guardian[Symbol.asyncDispose]()
    await child.gone
    expect(pids.filter(isAlive)).toEqual([])
  })

  test('ignores the signals that end a session', async () => {
    await using guardian = new Guardian()
    const child = await spawnGuarded(guardian, { command: 'cat', cwd: '/', env })
    const { pid = 0 } = guardian
    await eventually(() => hasIgnored(pid))
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(pid, signal)
    child.stdin?.end()
    await child.gone
    expect(isAlive(pid)).toBe(true)
  })

  test('is replaced for later starts when it was killed', async () => {
    const workspace = await openWorkspace()
    const guardian = new Guardian()
    const first = await spawnGuarded(guardian, { command: 'cat', cwd: '/', env })
    const { pid = 0 } = guardian
    process.kill(pid, 'SIGKILL')
    await eventually(() => guardian.pid !== pid)
    await spawnGuarded(guardian, family(workspace))
    const pids = await familyOf(workspace)
    expect(guardian.pid).not.toBe(pid)
    // The new one knows the old one's charges too.
    await guardian[Symbol.asyncDispose]()
    await first.gone
    await eventually(() => pids.filter(isAlive).length === 0)
  })

  test('is replaced after a moment when it dies young, and kills then too', async () => {
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

  test('is done without when it is dead at the disposal', async () => {
    const workspace = await openWorkspace()
    const guardian = new Guardian()
    const child = await spawnGuarded(guardian, family(workspace))
    const pids = await familyOf(workspace)
    process.kill(guardian.pid ?? 0, 'SIGKILL')
    await guardian[Symbol.asyncDispose]()
    await child.gone
    expect(pids.filter(isAlive)).toEqual([])
  })

  test('forgets a group that is gone, so that it never kills a stranger', async () => {
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

  test('starts nothing any more once it is disposed', async () => {
    const guardian = new Guardian()
    await guardian[Symbol.asyncDispose]()
    await expect(spawnGuarded(guardian, { command: 'cat', cwd: '/', env })).rejects.toThrow(
      'disposed',
    )
  })
})

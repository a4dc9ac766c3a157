import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { text } from 'node:stream/consumers'

import { describe, expect, test } from 'vitest'

import {
  eventually,
  isAlive,
  openWorkspace,
  processesWith,
  type Workspace,
} from '@mcp-host/mcp-testkit'
import type { SandboxConfig } from '../server-config.ts'
import { type GuardedProcess, Guardian, spawnGuarded } from '@mcp-host/process'
import { openSandbox } from './open-sandbox.ts'
import { NO_SANDBOX } from './sandbox.ts'

const env = { PATH: process.env['PATH'] }
const { kind, lack } = await openSandbox({ env })

async function startIn(
  guardian: Guardian,
  workspace: Workspace,
  command: string,
  ...args: string[]
): Promise<GuardedProcess> {
  return startAs({ kind: 'bwrap' }, guardian, workspace, command, ...args)
}

async function startAs(
  config: SandboxConfig,
  guardian: Guardian,
  workspace: Workspace,
  command: string,
  ...args: string[]
): Promise<GuardedProcess> {
  const sandbox = await openSandbox({
    env,
    hidden: [workspace.path('hidden'), workspace.path('secret')],
    readOnly: [workspace.path('program')],
  })
  const { prefix } = sandbox.enter('any', config)
  return spawnGuarded(guardian, { cwd: workspace.folder, env, prefix, command, args })
}

async function outputOf(
  workspace: Workspace,
  script: string,
  config: SandboxConfig = { kind: 'bwrap' },
): Promise<string> {
  await using guardian = new Guardian()
  const child = await startAs(config, guardian, workspace, 'sh', '-c', script)
  child.stdin?.end()
  const [out, err] = await Promise.all([child.stdout, child.stderr].map((pipe) => text(pipe!)))
  return `${out}${err}`
}

describe.skipIf(kind !== 'bwrap')(`a program in bwrap${lack ? ` (skipped: ${lack})` : ''}`, () => {
  test('sees no process of the host, and no environment but its own', async () => {
    await using workspace = await openWorkspace()
    const out = await outputOf(
      workspace,
      'cat /proc/[0-9]*/environ | tr "\\0" "\\n"; echo; ls /proc',
    )
    const pids = out.split('\n').filter((line) => /^\d+$/.test(line))
    expect(pids).toContain('1')
    expect(pids).not.toContain(String(process.pid))
    expect(pids.length).toBeLessThan(8)
    const names = out.split('\n').flatMap((line) => /^(\w+)=/.exec(line)?.[1] ?? [])
    expect(new Set(names)).toEqual(new Set(['PATH', 'PWD', 'MCP_HOST_PROCESS']))
  })

  test('has namespaces of its own, also for shared memory', async () => {
    await using workspace = await openWorkspace()
    const names = ['ipc', 'mnt', 'pid', 'user']
    const own = names.map((name) => readlinkSync(`/proc/self/ns/${name}`))
    const out = await outputOf(workspace, `cd /proc/self/ns; readlink ${names.join(' ')}`)
    const lines = out.trim().split('\n')
    expect(lines).toHaveLength(names.length)
    expect(lines.filter((line) => own.includes(line))).toEqual([])
  })

  test('finds hidden folders empty, reads no hidden file, and changes nothing that is read-only', async () => {
    await using workspace = await openWorkspace()
    for (const folder of ['hidden', 'program']) mkdirSync(workspace.path(folder))
    for (const file of ['hidden/key', 'secret', 'program/main', 'own']) {
      writeFileSync(workspace.path(file), `text of ${file}`)
    }
    const script =
      'umount -l secret hidden program; ls -A hidden; cat secret; echo x > hidden/new; echo x > program/main; rm program/main; cat program/main; echo more >> own'
    const out = await outputOf(workspace, script)
    expect(out).toContain('text of program/main')
    expect(out).not.toContain('text of hidden')
    expect(out).not.toContain('text of secret')
    expect(out).not.toContain('key')
    expect(out).toMatch(/hidden\/new: Read-only/)
    expect(readFileSync(workspace.path('program/main'), 'utf8')).toBe('text of program/main')
    expect(readFileSync(workspace.path('own'), 'utf8')).toBe('text of ownmore\n')
  })

  test('ends in its own way after SIGTERM', async () => {
    await using workspace = await openWorkspace()
    await using guardian = new Guardian()
    const script =
      'process.on("SIGTERM", () => setTimeout(() => { console.log("done"); process.exit(3) }, 100)); setInterval(() => {}, 1e6); console.log("up")'
    const child = await startIn(guardian, workspace, process.execPath, '-e', script)
    const out = text(child.stdout!)
    await eventually(async () => processesWith(script).length > 0)
    await new Promise<void>((resolve) => child.stdout!.once('data', () => resolve()))
    child.signal('SIGTERM')
    expect(await child.exited).toEqual({ code: 3, signal: null })
    expect(await out).toContain('done')
  })

  test('that does not handle SIGTERM is ended by it', async () => {
    await using workspace = await openWorkspace()
    await using guardian = new Guardian()
    const child = await startIn(guardian, workspace, 'sh', '-c', 'echo up; exec sleep 1000')
    await new Promise<void>((resolve) => child.stdout!.once('data', () => resolve()))
    child.signal('SIGTERM')
    expect(await child.exited).toEqual({ code: 143, signal: null })
  })

  test.each(['orderly end', 'kill'])(
    'takes processes of other sessions with it: %s',
    async (how) => {
      await using workspace = await openWorkspace()
      await using guardian = new Guardian()
      const name = `stray-${crypto.randomUUID()}`
      // The stray process has another session, and nothing in its environment.
      const script = `setsid -f env -i sh -c 'sleep 1000; : ${name}'; echo up; read line`
      const child = await startIn(guardian, workspace, 'sh', '-c', script)
      await new Promise<void>((resolve) => child.stdout!.once('data', () => resolve()))
      const strays = await eventually(() => {
        const found = processesWith(`: ${name}`)
        return found.length > 1 && found
      })
      if (how === 'kill') child.signal('SIGKILL')
      else child.stdin?.end('\n')
      await child.gone
      await eventually(() => !strays.some(isAlive))
    },
  )

  test('cannot put other files in the place of protected ones', async () => {
    await using workspace = await openWorkspace()
    const path = (name: string): string => workspace.path(name)
    for (const folder of ['a/b/data', 'program/bin', 'program/open', 'dot']) {
      mkdirSync(path(folder), { recursive: true })
    }
    for (const file of ['a/b/settings', 'a/b/data/key', 'program/main', 'dot/linked']) {
      writeFileSync(path(file), `text of ${file}`)
    }
    symlinkSync('../dot/linked', path('program/link'))
    const sandbox = await openSandbox({
      env,
      hidden: [path('a/b/data'), path('a/b/settings'), path('program/link')],
      readOnly: [path('program'), path('dot/missing/too')],
      writable: [path('program/open')],
    })
    const looks = [
      'mv a a2; mv a/b a/b2; mv program p2; mv dot d2; rm -r a; rmdir dot',
      'mv a/b/settings x; rm a/b/settings; echo evil > a/b/settings',
      'rm program/link; ln -s x program/link; echo evil > program/new; cat program/link dot/linked',
      'echo evil > dot/linked; rm dot/linked; mkdir -p dot/missing; echo evil > dot/missing/too',
      'cat a/b/data/key a2/b/data/key; echo fine > program/open/file; echo fine > own',
    ]
    await using guardian = new Guardian()
    const child = await spawnGuarded(guardian, {
      ...sandbox.enter('any'),
      cwd: workspace.folder,
      env,
      command: 'sh',
      args: ['-c', looks.join('\n')],
    })
    expect(await text(child.stdout!)).toBe('')
    for (const file of ['a/b/settings', 'a/b/data/key', 'program/main', 'dot/linked']) {
      expect(readFileSync(path(file), 'utf8')).toBe(`text of ${file}`)
    }
    expect(readlinkSync(path('program/link'))).toBe('../dot/linked')
    expect(existsSync(path('program/new'))).toBe(false)
    expect(existsSync(path('dot/missing'))).toBe(false)
    expect(readFileSync(path('program/open/file'), 'utf8')).toBe('fine\n')
    expect(readFileSync(path('own'), 'utf8')).toBe('fine\n')
  })

  test('sees no terminal of others, and opens its own', async () => {
    await using workspace = await openWorkspace()
    const script = 'ls /dev/pts; script -qc "echo it has a terminal" /dev/null'
    expect(await outputOf(workspace, script)).toMatch(/^ptmx\s+it has a terminal\s+$/)
  })

  test('reaches no network without it', async () => {
    await using workspace = await openWorkspace()
    const script = 'cat /proc/net/dev'
    expect(await outputOf(workspace, script)).toMatch(/\n *(?!lo)\w+:/)
    const alone = await outputOf(workspace, script, { kind: 'bwrap', network: false })
    expect(alone).toMatch(/\n *lo:/)
    expect(alone).not.toMatch(/\n *(?!lo)\w+:/)
  })

  test('changes only its roots', async () => {
    await using workspace = await openWorkspace()
    for (const folder of ['own', 'other']) mkdirSync(workspace.path(folder))
    const roots = [workspace.path('own')]
    const script =
      'echo text > own/file; echo text > other/file; echo text > /tmp/file; cat /tmp/file'
    const out = await outputOf(workspace, script, { kind: 'bwrap', roots })
    expect(readFileSync(workspace.path('own/file'), 'utf8')).toBe('text\n')
    expect(out).toMatch(/^text\n/)
    expect(existsSync(workspace.path('other/file'))).toBe(false)
    await expect(outputOf(workspace, '', { roots: [workspace.path('missing')] })).rejects.toThrow(
      'missing does not exist',
    )
  })

  test('starts whatever its PATH is', async () => {
    await using workspace = await openWorkspace()
    await using guardian = new Guardian()
    const sandbox = await openSandbox({ env })
    const child = await spawnGuarded(guardian, {
      ...sandbox.enter('any'),
      cwd: workspace.folder,
      env: { PATH: '/nowhere' },
      command: '/bin/sh',
      args: ['-c', 'echo "it runs in $PATH"'],
    })
    expect(await text(child.stdout!)).toBe('it runs in /nowhere\n')
  })

  test('runs from a path with an equals sign', async () => {
    await using workspace = await openWorkspace()
    writeFileSync(workspace.path('a=b'), '#!/bin/sh\necho it runs')
    execFileSync('chmod', ['+x', workspace.path('a=b')])
    expect(await outputOf(workspace, './a=b')).toBe('it runs\n')
    await using guardian = new Guardian()
    const child = await startIn(guardian, workspace, workspace.path('a=b'))
    expect(await text(child.stdout!)).toBe('it runs\n')
  })
})

test('a host without a sandbox refuses to start a server that must have one', async () => {
  for (const each of ['bwrap', 'uid'] as const) {
    expect(() => NO_SANDBOX.enter('any', { kind: each })).toThrow(
      `"sandbox": "${each}" is not possible here: the application has opened no sandbox`,
    )
  }
  expect(() => NO_SANDBOX.enter('any', { network: false })).toThrow('needs "bwrap"')
  expect(() => NO_SANDBOX.enter('any', { roots: [] })).toThrow('need "bwrap"')
  expect(NO_SANDBOX.enter('any')).toEqual({})
})

test('without the program there is no sandbox, and the reason names the remedy', async () => {
  const found = await openSandbox({ env: { PATH: '/nowhere' } })
  expect([found.kind, found.lack]).toEqual(['none', expect.stringContaining('bubblewrap')])
  const must = await openSandbox({ env: { PATH: '/nowhere' }, kind: 'bwrap' })
  expect([must.kind, must.lack]).toEqual(['bwrap', expect.stringContaining('bubblewrap')])
  expect(() => must.enter('any')).toThrow('bubblewrap')
})

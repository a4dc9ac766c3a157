import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

import { describe, expect, test } from 'vitest'

import {
  eventually,
  isAlive,
  openWorkspace,
  processesWith,
  type Workspace,
} from '@mcp-host/mcp-testkit'
import { childEnvironment, type GuardedProcess, Guardian, spawnGuarded } from '@mcp-host/process'
import { openSandbox } from './open-sandbox.ts'

const env = { PATH: process.env['PATH'] }
const reason = process.getuid?.() === 0 ? '' : ' (skipped: only root can change its user)'

/** Other users may enter the workspace, and read a file of root that is open to all. */
async function open(): Promise<Workspace> {
  const workspace = await openWorkspace()
  chmodSync(workspace.folder, 0o755)
  return workspace
}

async function start(
  guardian: Guardian,
  workspace: Workspace,
  script: string,
  server = 'one',
): Promise<GuardedProcess> {
  const sandbox = await openSandbox({ env, kind: 'uid', homes: workspace.path('homes') })
  const { env: own, ...separation } = sandbox.enter(server)
  return spawnGuarded(guardian, {
    ...separation,
    cwd: workspace.folder,
    env: childEnvironment({ ...env, SECRET: 'secret', ...own }, {}),
    command: 'sh',
    args: ['-c', script],
  })
}

async function outputOf(workspace: Workspace, script: string, server = 'one'): Promise<string> {
  await using guardian = new Guardian()
  const child = await start(guardian, workspace, script, server)
  const [out, err] = await Promise.all([child.stdout, child.stderr].map((pipe) => text(pipe!)))
  return `${out}${err}`
}

describe.skipIf(reason !== '')(`a program with a user of its own${reason}`, () => {
  test('has no privilege, and the same home at each start', async () => {
    await using workspace = await open()
    const script =
      'id -u; id -G; grep -E "^(Cap|NoNew)" /proc/self/status; cd; pwd; echo x >> file; cat file; ls -d "$TMPDIR"; echo "$USER"'
    const out = await outputOf(workspace, script)
    expect(out).toMatch(/^2\d{4}\n2\d{4} [45]\d{4}\n/)
    for (const set of ['Inh', 'Prm', 'Eff', 'Amb'])
      expect(out).toMatch(`Cap${set}:\t0000000000000000`)
    expect(out).toMatch('NoNewPrivs:\t1')
    const home = /\/.*\/homes\/2\d{4}$/m.exec(out)?.[0] ?? ''
    expect(out).toContain(`${home}\nx\n${home}/tmp\n\n`)
    expect(statSync(home).mode & 0o777).toBe(0o700)
    expect(statSync(join(home, '..')).mode & 0o777).toBe(0o711)
    expect(await outputOf(workspace, script)).toContain(`${home}\nx\nx\n`)
  })

  test('reads nothing of the host and of other servers', async () => {
    await using workspace = await open()
    await using guardian = new Guardian()
    writeFileSync(workspace.path('key'), 'key of the host', { mode: 0o600 })
    const secret = 'cd; echo "data of two" > file; chmod 0666 file; echo up; exec sleep 1000'
    const two = await start(guardian, workspace, secret, 'two')
    await new Promise<void>((resolve) => two.stdout!.once('data', () => resolve()))
    const home = join(workspace.path('homes'), String(statSync(`/proc/${two.pid}`).uid))
    const looks = [
      `cat ${workspace.path('key')}`,
      `cat ${home}/file; ls ${home} ${workspace.path('homes')}`,
      `tr '\\0' '\\n' < /proc/${two.pid}/environ; cat /proc/${two.pid}/maps; ls /proc/${two.pid}/fd`,
      `tr '\\0' '\\n' < /proc/${process.pid}/environ; cat /proc/${process.pid}/maps`,
      `kill -9 ${two.pid}`,
    ]
    for (const look of looks) {
      const found = await outputOf(workspace, look)
      expect(found).toMatch(/ermission denied|not permitted/)
      expect(found).not.toMatch(/key of|data of|PATH=|libc/)
    }
    expect(isAlive(two.pid)).toBe(true)
  })

  test('works in a folder that its user can enter, else in its home', async () => {
    await using workspace = await open()
    expect(await outputOf(workspace, 'pwd')).toBe(`${workspace.folder}\n`)
    writeFileSync(workspace.path('key'), 'key of others', { mode: 0o644 })
    chmodSync(workspace.folder, 0o700)
    const homes = await openWorkspace()
    chmodSync(homes.folder, 0o755)
    const sandbox = await openSandbox({ env, kind: 'uid', homes: homes.path('homes') })
    await using guardian = new Guardian()
    const { env: own, ...separation } = sandbox.enter('one')
    const child = await spawnGuarded(guardian, {
      ...separation,
      cwd: workspace.folder,
      env: childEnvironment({ ...env, ...own }, {}),
      command: 'sh',
      args: ['-c', 'pwd; cat key'],
    })
    expect(await text(child.stdout!)).toBe(`${own?.['HOME']}\n`)
  })

  test('takes processes that left its group, and cleared their environment, with it', async () => {
    await using workspace = await open()
    await using guardian = new Guardian()
    const name = `stray-${crypto.randomUUID()}`
    const script = `setsid -f env -i sh -c 'sleep 1000; : ${name}'; echo up; read line`
    const [one, other] = [
      await start(guardian, workspace, script),
      await start(guardian, workspace, script),
    ]
    for (const { stdout } of [one, other]) {
      await new Promise<void>((resolve) => stdout!.once('data', () => resolve()))
    }
    const strays = await eventually(() => {
      const found = processesWith(`sleep 1000; : ${name}`).filter(
        (pid) => ![one.pid, other.pid].includes(pid),
      )
      return found.length === 2 && found
    })
    one.stdin?.end('\n')
    await one.gone
    // The other start of the same server keeps its own.
    expect(strays.filter(isAlive)).toHaveLength(1)
    other.signal('SIGKILL')
    await other.gone
    expect(strays.filter(isAlive)).toEqual([])
  })

  test('servers with one number by chance get different ones', async () => {
    await using workspace = await open()
    const uid = (await outputOf(workspace, 'id -u')).trim()
    const homes = workspace.path('homes')
    execFileSync('rm', ['-r', join(homes, uid), join(homes, `${uid}.server`)])
    execFileSync('ln', ['-s', 'two', join(homes, `${uid}.server`)])
    expect(await outputOf(workspace, 'id -u')).toBe(`${Number(uid) + 1}\n`)
  })
})

test.skipIf(reason !== '')('what is missing is said with its remedy', async () => {
  await using workspace = await open()
  const lackOf = async (homes?: string, path = env.PATH): Promise<string> => {
    const sandbox = await openSandbox({ env: { PATH: path }, kind: 'uid', homes })
    expect(() => sandbox.enter('any')).toThrow(`"uid" is not possible here: ${sandbox.lack}`)
    return sandbox.lack ?? ''
  }
  expect(await lackOf()).toMatch('SANDBOX_HOMES')
  expect(await lackOf(workspace.path('homes'), '/nowhere')).toMatch('setpriv')
  mkdirSync(workspace.path('folder'))
  writeFileSync(workspace.path('file'), '')
  expect(await lackOf(workspace.path('file/homes'))).toMatch('SANDBOX_HOMES')
  for (const mode of [0o644, 0o600]) writeFileSync(workspace.path(`secret${mode}`), '', { mode })
  const hidden = [0o644, 0o600, 0].map((mode) => workspace.path(`secret${mode}`))
  const sandbox = await openSandbox({ env, kind: 'uid', homes: workspace.path('homes'), hidden })
  expect([sandbox.lack, sandbox.open]).toEqual([undefined, hidden.slice(0, 1)])
})

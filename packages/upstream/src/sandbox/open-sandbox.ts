import { once } from 'node:events'
import { chmodSync, mkdirSync } from 'node:fs'

import type { SandboxKind } from '../server-config.ts'
import type { Environment } from '@mcp-host/process'
import { findExecutable, launch, launched } from '@mcp-host/process'
import { bwrapPrefix } from './bwrap-prefix.ts'
import { Sandbox, type SandboxMeans } from './sandbox.ts'
import { mountsFor, type ProtectedPaths } from './protect-paths.ts'
import { probePrefix, ServerUsers } from './server-users.ts'

const PROBE_LIMIT_MS = 5_000

export interface SandboxOptions extends Partial<ProtectedPaths> {
  /** Default `auto`: the strongest that the machine offers. */
  readonly kind?: 'auto' | SandboxKind
  /** The environment in which programs are searched. */
  readonly env: Environment
  /** The absolute path of a folder for the homes of servers, which `uid` needs; made if it is missing. */
  readonly homes?: string | undefined
}

/** Finds out what the machine offers to separate servers. A server that must have more does not start. */
export async function openSandbox({
  kind = 'auto',
  env,
  homes,
  hidden = [],
  readOnly = [],
  writable = [],
}: SandboxOptions): Promise<Sandbox> {
  const [bwrap, users] = await Promise.all([findBwrap(env), findUsers(env, homes)])
  const means: SandboxMeans = {
    ...('lack' in bwrap ? {} : bwrap),
    ...('lack' in users ? {} : { users: users.users }),
    lacks: {
      ...('lack' in bwrap ? { bwrap: bwrap.lack } : {}),
      ...('lack' in users ? { uid: users.lack } : {}),
    },
  }
  const { lacks } = means
  const best = (['bwrap', 'uid'] as const).find((each) => lacks[each] === undefined)
  const isOff = kind === 'none'
  const chosen = kind === 'auto' ? (best ?? 'none') : kind
  const lack = isOff ? 'it was turned off' : lacks[chosen === 'none' ? 'bwrap' : chosen]
  const open: string[] = []
  if (chosen === 'uid' && 'canRead' in users) {
    for (const path of hidden) if (await users.canRead(path)) open.push(path)
  }
  return new Sandbox({ kind: chosen, lack, open }, means, { hidden, readOnly, writable })
}

interface UserMeans {
  readonly users: ServerUsers
  /** Whether the user of a server can read a path. */
  readonly canRead: (path: string) => Promise<boolean>
}

/** The means of a kind, or what is missing for it. */
type Found<Means> = Means | { readonly lack: string }

async function findBwrap(env: Environment): Promise<Found<{ readonly bwrap: string }>> {
  if (process.platform !== 'linux') return { lack: 'bubblewrap runs on Linux only' }
  const bwrap = await find('bwrap', env)
  if (bwrap === undefined) return { lack: 'bwrap was not found; install the package bubblewrap' }
  const mounts = mountsFor({ hidden: [], readOnly: [], writable: [] })
  const view = { mounts, network: true, roots: undefined }
  if (await works([...bwrapPrefix(bwrap, view), '/bin/true'], env)) return { bwrap }
  return { lack: 'bwrap may not make namespaces on this machine' }
}

async function findUsers(env: Environment, homes: string | undefined): Promise<Found<UserMeans>> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) {
    return { lack: 'only root, on Linux, can give each server a user of its own' }
  }
  if (homes === undefined) return { lack: 'SANDBOX_HOMES does not name the folder for the homes' }
  const setpriv = await find('setpriv', env)
  if (setpriv === undefined)
    return { lack: 'setpriv was not found; install the package util-linux' }
  if (!(await works([...probePrefix(setpriv), '/bin/true'], env))) {
    return {
      lack: 'this root may not change its user: it needs the capabilities SETUID and SETGID',
    }
  }
  try {
    mkdirSync(homes, { recursive: true })
    // Volumes may be open to all. Servers enter their homes, and see no others.
    chmodSync(homes, 0o711)
  } catch (error) {
    return { lack: `the folder of SANDBOX_HOMES cannot be used: ${String(error)}` }
  }
  return {
    users: new ServerUsers(setpriv, homes),
    canRead: (path) => works([...probePrefix(setpriv), '/bin/sh', '-c', 'test -r "$0"', path], env),
  }
}

async function find(program: string, env: Environment): Promise<string | undefined> {
  return findExecutable(program, { cwd: '/', env }).catch(() => undefined)
}

/** Whether a command line ends without a fault. */
async function works(line: readonly string[], env: Environment): Promise<boolean> {
  const [command = '', ...args] = line
  const probe = launch(command, args, { env, stdio: 'ignore', detached: false })
  try {
    await launched(probe, command)
    const [code] = await once(probe, 'exit', { signal: AbortSignal.timeout(PROBE_LIMIT_MS) })
    return code === 0
  } catch {
    // The reason does not matter: servers run without a sandbox, or not at all.
    return false
  } finally {
    probe.kill('SIGKILL')
  }
}

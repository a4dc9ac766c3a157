import { once } from 'node:events'

import type { Environment } from '../environment.ts'
import { findExecutable } from '../process/find-executable.ts'
import { launch, launched, LaunchError } from '../process/launch.ts'
import { bwrapPrefix } from './bwrap-prefix.ts'
import { Sandbox, type SandboxPaths } from './sandbox.ts'

const PROBE_LIMIT_MS = 5_000

export interface SandboxOptions extends Partial<SandboxPaths> {
  /** Default `auto`: the strongest that the machine offers. */
  readonly kind?: 'auto' | 'none' | 'bwrap'
  /** The environment in which bwrap is searched. */
  readonly env: Environment
}

/** Finds out what the machine offers to separate servers. Throws `LaunchError` when it does not offer `kind`. */
export async function openSandbox({
  kind = 'auto',
  env,
  hidden = [],
  readOnly = [],
}: SandboxOptions): Promise<Sandbox> {
  const paths = { hidden, readOnly }
  const { bwrap, lack = '' } = await findBwrap(env)
  if (kind === 'none') return new Sandbox({ kind, lack: 'it was turned off', bwrap }, paths)
  if (bwrap !== undefined) return new Sandbox({ kind: 'bwrap', bwrap }, paths)
  if (kind === 'bwrap') throw new LaunchError(`servers cannot run in a sandbox: ${lack}`)
  return new Sandbox({ kind: 'none', lack }, paths)
}

async function findBwrap(env: Environment): Promise<{ bwrap?: string; lack?: string }> {
  if (process.platform !== 'linux') return { lack: 'bubblewrap runs on Linux only' }
  const bwrap = await findExecutable('bwrap', { cwd: '/', env }).catch(() => undefined)
  if (bwrap === undefined) return { lack: 'bwrap was not found; install the package bubblewrap' }
  const view = { hiddenFolders: [], hiddenFiles: [], readOnly: [] }
  const lack = 'bwrap may not make namespaces on this machine'
  try {
    const probe = launch(bwrap, [...bwrapPrefix(bwrap, view).slice(1), 'true'], {
      env,
      stdio: 'ignore',
      detached: false,
    })
    await launched(probe, bwrap)
    const [code] = await once(probe, 'exit', { signal: AbortSignal.timeout(PROBE_LIMIT_MS) })
    return code === 0 ? { bwrap } : { lack }
  } catch {
    // The reason does not matter: servers run without a sandbox, or not at all.
    return { lack }
  }
}

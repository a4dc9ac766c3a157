import type { Environment } from '../environment.ts'
import { isForFetching } from './fetch-environment.ts'

/** What a program needs to find its files, its user and its language; nothing that is a secret. */
export const SAFE_NAMES: ReadonlySet<string> = new Set([
  'HOME',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'LOGNAME',
  'PATH',
  'SHELL',
  'TERM',
  'TMPDIR',
  'TZ',
  'USER',
])

/** The same for Windows, where names have no case: `Path` and `SystemRoot` are the usual ones. */
const SAFE_NAMES_WINDOWS: ReadonlySet<string> = new Set([
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATH',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'USERNAME',
  'USERPROFILE',
  'WINDIR',
])

/**
 * The environment of a child: the safe part of ours, what it needs to fetch programs, then what is configured
 * for it, no more.
 */
export function childEnvironment(
  parent: Environment,
  configured: Readonly<Record<string, string>>,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const isWindows = platform === 'win32'
  const toKey = (name: string): string => (isWindows ? name.toUpperCase() : name)
  const safe = isWindows ? SAFE_NAMES_WINDOWS : SAFE_NAMES
  const own = new Set(Object.keys(configured).map(toKey))
  const ownUpper = new Set(Object.keys(configured).map((name) => name.toUpperCase()))
  const env = new Map<string, string>()
  for (const [name, value] of Object.entries(parent)) {
    // Where names have no case, one left beside a configured one could win over it.
    if (value === undefined || own.has(toKey(name))) continue
    if (!safe.has(toKey(name))) {
      // `https_proxy` and `HTTPS_PROXY` are one setting, whichever of them is configured.
      if (!isForFetching(name, value) || ownUpper.has(name.toUpperCase())) continue
    }
    // A value that starts so is a shell function, which old shells would run.
    if (!value.startsWith('()')) env.set(name, value)
  }
  return { ...Object.fromEntries(env), ...configured }
}

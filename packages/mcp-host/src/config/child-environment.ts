import type { Environment } from '../environment.ts'
import { isForFetching } from './fetch-environment.ts'

/** Variables by which a program finds its files, its user and its language; none holds a secret. */
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

/** The Windows variables, whose names are case-insensitive: `Path` and `SystemRoot` are the usual spellings. */
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
 * The environment of a child: the safe part of the host's own, variables for fetching programs, then the configured
 * ones, no more.
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
    // With case-insensitive names an inherited variable could win over a configured one.
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

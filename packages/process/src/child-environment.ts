import type { Environment } from './environment.ts'
import { isForFetching } from './fetch-environment.ts'

/** Variables for the files, the user and the language of a program; none holds a secret. */
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

/** The environment of a child: the safe part of the host's, variables for fetching programs, and the configured ones. */
export function childEnvironment(
  parent: Environment,
  configured: Readonly<Record<string, string>>,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const isWindows = platform === 'win32'
  const toKey = (name: string): string => (isWindows ? name.toUpperCase() : name)
  const safe = isWindows ? SAFE_NAMES_WINDOWS : SAFE_NAMES
  const names = Object.keys(configured)
  const keys = new Set(names.map(toKey))
  const upperNames = new Set(names.map((name) => name.toUpperCase()))
  const inherited = Object.entries(parent).filter(([name, value]) => {
    // With case-insensitive names an inherited variable could win over a configured one.
    if (value === undefined || keys.has(toKey(name))) return false
    // A value with this beginning is a shell function, which old shells would run.
    if (value.startsWith('()')) return false
    if (safe.has(toKey(name))) return true
    // `https_proxy` and `HTTPS_PROXY` are one setting, whichever of them is configured.
    return isForFetching(name, value) && !upperNames.has(name.toUpperCase())
  })
  return { ...(Object.fromEntries(inherited) as Record<string, string>), ...configured }
}

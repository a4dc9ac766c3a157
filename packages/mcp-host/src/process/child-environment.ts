import type { Environment } from '../environment.ts'

/** What a program needs to find its files, its user and its language; nothing that is a secret. */
const SAFE_NAMES =
  process.platform === 'win32'
    ? [
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
      ]
    : [
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
      ]

/** The environment of a child: the safe part of ours, then what is configured for it, no more. */
export function childEnvironment(
  parent: Environment,
  configured: Readonly<Record<string, string>>,
): Record<string, string> {
  const env: Record<string, string> = {}
  for (const name of SAFE_NAMES) {
    const value = parent[name]
    // A value that starts so is a shell function, which old shells would run.
    if (value !== undefined && !value.startsWith('()')) env[name] = value
  }
  return { ...env, ...configured }
}

import { basename } from 'node:path'

import { ownValue } from '@mcp-host/json'

/** Programs that may fetch the program to run. Those with a list fetch it only with one of these commands. */
const LAUNCHERS: Readonly<Record<string, readonly string[] | undefined>> = {
  bun: ['x'],
  bunx: undefined,
  deno: ['run'],
  docker: ['run', 'compose'],
  npm: ['exec', 'x'],
  npx: undefined,
  pipx: ['run'],
  pnpm: ['dlx', 'exec'],
  pnpx: undefined,
  podman: ['run'],
  uv: ['run', 'tool', 'x'],
  uvx: undefined,
  yarn: ['dlx'],
}

/** The launcher of a server, such as `npx`, which may fetch the server first. */
export function launcherOf(config: {
  readonly command: string
  readonly args: readonly string[]
}): string | undefined {
  const [name, ...args] = commandOf(config.command, config.args)
  if (name === undefined || !Object.hasOwn(LAUNCHERS, name)) return undefined
  const commands = ownValue(LAUNCHERS, name)
  return commands === undefined || args.some((arg) => commands.includes(arg)) ? name : undefined
}

/** The program without its folder and extension, and without `cmd /c` on Windows, followed by its arguments. */
function commandOf(command: string, args: readonly string[]): readonly string[] {
  const name = basename(command.replaceAll('\\', '/'))
    .replace(/\.(cmd|exe|bat|ps1)$/i, '')
    .toLowerCase()
  const [first, second, ...rest] = args
  const isShell = name === 'cmd' && first?.toLowerCase() === '/c' && second !== undefined
  return isShell ? commandOf(second, rest) : [name, ...args]
}

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'

/** One argument of a command line: in quotes, or without white space. */
const PART = /"((?:[^"\\]|\\.)*)"|'([^']*)'|(\S+)/g
/** What only a shell understands. */
const SHELL = /[|&;<>`]|\$\(/

export type CommandLine =
  | { readonly kind: 'program' }
  | { readonly kind: 'line'; readonly command: string; readonly args: readonly string[] }
  | { readonly kind: 'shell' }

/**
 * Whether a `command` is a program, a line of a program with its arguments, or a line for a shell. A path with spaces
 * that exists is a program. `cwd`: the folder to which a path is relative.
 */
export function splitCommand(command: string, cwd: string): CommandLine {
  if (!/\s/.test(command) || existsSync(resolve(cwd, command))) return { kind: 'program' }
  const parts = Array.from(command.matchAll(PART), ([, double, single, bare]) => {
    return double?.replaceAll(/\\(["\\])/g, '$1') ?? single ?? bare ?? ''
  })
  const [program = '', ...args] = parts
  // A folder of Windows may have spaces, and be on another machine.
  if (/^[A-Za-z]:\\/.test(program) && !command.startsWith('"')) return { kind: 'program' }
  if (SHELL.test(command)) return { kind: 'shell' }
  return args.length === 0 ? { kind: 'program' } : { kind: 'line', command: program, args }
}

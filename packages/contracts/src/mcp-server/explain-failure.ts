import type { ServerEntry } from './catalog-entry.ts'

const MAX_REASON = 200

/** An uncaught exception of Node.js, Python, Java or .NET. */
const EXCEPTION = /^(?:[\w$]+\.)*\w*(?:Error|Exception)\b[^:]*: ./
/** npm names the fault after its code, and other lines follow. */
const NPM = /^npm (?:error|ERR!) (?!code |errno |syscall |path |A complete log)/
/** A registry lacks a package, or hides it. */
const NO_PACKAGE = /404 Not Found - GET (https?:\/\/[^/\s]+)\S*\/(@?[^/\s]+)(?: |$)/
const TELLING =
  /\b(?:error|fail\w*|fatal|panic|cannot|can't|could not|unable|missing|required|invalid|denied|refused|not (?:found|set)|no such|unknown)\b/i
/** The line that Node.js writes at the end of every crash. */
const FOOTER = /^Node\.js v/

/**
 * The error of a server with the line of its output that tells the reason, as `exited with code 1: no disk`. The line
 * may have secrets that the supervisor does not know, so only admins and operators may see the result.
 */
export function explainFailure({
  error,
  output = [],
}: Pick<ServerEntry, 'error' | 'output'>): string | undefined {
  const reason = reasonOf(output)
  return error === undefined || reason === '' ? error : `${error}: ${reason}`
}

/** The output of a failed process, unless its only line is the reason, or npm wrote all of it. */
export function outputBesideReason({
  output = [],
}: Pick<ServerEntry, 'output'>): readonly string[] {
  return output.length > 1 && !output.every((line) => line.startsWith('npm ')) ? output : []
}

function reasonOf(output: readonly string[]): string {
  const lines = output.map((line) => line.trim()).filter((line) => /\w/.test(line))
  const line =
    lines.findLast((each) => EXCEPTION.test(each)) ??
    lines.find((each) => NPM.test(each)) ??
    lines.findLast((each) => TELLING.test(each)) ??
    lines.findLast((each) => !FOOTER.test(each)) ??
    ''
  const [, registry, name = ''] = NO_PACKAGE.exec(line) ?? []
  if (registry !== undefined) {
    const found = name.replace(/%2f/i, '/')
    return `${registry} has no package ${found} (404); correct its name, or log in where it is`
  }
  return line.length > MAX_REASON ? `${line.slice(0, MAX_REASON).toWellFormed()}…` : line
}

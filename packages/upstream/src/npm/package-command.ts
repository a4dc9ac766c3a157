import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

import { RUN_PACKAGE_SCRIPT } from './run-package.ts'

/** A program in packages of npm, as the command line of a launcher names it. */
interface PackageCommand {
  /** Names with or without a version, such as `@scope/server@1.2`. */
  readonly packages: readonly string[]
  /** The name of the program; undefined: the one of the package. */
  readonly program: string | undefined
  readonly args: readonly string[]
  /** The files of a folder that tell its launcher where packages come from and whether their scripts run. */
  readonly settings: readonly string[]
}

interface CommandLine {
  readonly command: string
  readonly args: readonly string[]
}

interface LaunchPlace {
  readonly cwd: string
  /** The environment of the program. */
  readonly env: Readonly<Record<string, string>>
  readonly platform?: NodeJS.Platform
}

const OF_NPM = ['.npmrc']
const OF_PNPM = ['.npmrc', 'pnpm-workspace.yaml']
const OF_BUN = ['.npmrc', 'bunfig.toml']
/** The launchers, the words that come with them, and their settings. `npm` reads options also behind the package. */
const LAUNCHERS = [
  { words: ['npx'], settings: OF_NPM },
  { words: ['npm', 'exec'], settings: OF_NPM, readsAll: true },
  { words: ['npm', 'x'], settings: OF_NPM, readsAll: true },
  { words: ['pnpx'], settings: OF_PNPM },
  { words: ['pnpm', 'dlx'], settings: OF_PNPM },
  { words: ['bunx'], settings: OF_BUN },
  { words: ['bun', 'x'], settings: OF_BUN },
]
/** Options that change nothing where nobody can be asked. */
const WITHOUT_EFFECT = new Set(['-y', '--yes', '-q', '--quiet', '-s', '--silent'])
/** A package of the registry, without the addresses, folders, files and aliases that npm also takes. */
const SPEC =
  /^(?!.*\.(?:tgz|tar|tar\.gz)$)(?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*(?:@[\w~^<>=*|+ -][\w.~^<>=*|+ -]*)?$/i
const PROGRAM = /^\w[\w.-]*$/
/** The variables that tell it to other launchers than npm. */
const OTHER_SETTINGS = /^(?:pnpm|bun)_config_.*(?:registry|scripts)$/i

/**
 * The command line that runs a package without its launcher, which would read the packages of the working folder, ask
 * the registry at each start, and stay beside the program with 100 MB and more. The package is installed once, into the
 * cache of npm. As it is, where the launcher may do anything else.
 */
export function withoutLauncher(
  line: CommandLine,
  { cwd, env, platform = process.platform }: LaunchPlace,
): CommandLine {
  const found = platform === 'win32' ? undefined : readPackageCommand(line)
  if (found === undefined || isInProject(found, cwd, env)) return line
  if (Object.keys(env).some((name) => OTHER_SETTINGS.test(name))) return line
  const { packages, program = '', args } = found
  const given = [JSON.stringify(packages), program, ...args]
  return { command: 'node', args: ['-e', RUN_PACKAGE_SCRIPT, '--', ...given] }
}

function readPackageCommand({ command, args }: CommandLine): PackageCommand | undefined {
  const line = [command, ...args]
  const launcher = LAUNCHERS.find(({ words }) => words.every((word, at) => line[at] === word))
  if (launcher === undefined) return undefined
  const rest = line.slice(launcher.words.length)
  const packages: string[] = []
  let isClosed = false
  while (!isClosed && rest[0]?.startsWith('-') === true) {
    const [option = '', value] = rest.shift()?.split(/=(.*)/s) ?? []
    if (option === '--') isClosed = true
    else if (option === '-p' || option === '--package') packages.push(value ?? rest.shift() ?? '')
    else if (!WITHOUT_EFFECT.has(option)) return undefined
  }
  const [first, ...others] = rest
  const behind = launcher.readsAll === true && !isClosed ? plainArguments(others) : others
  if (first === undefined || behind === undefined) return undefined
  const named = packages.length > 0
  const specs = named ? packages : [first]
  if (!specs.every((spec) => SPEC.test(spec)) || (named && !PROGRAM.test(first))) return undefined
  const { settings } = launcher
  return { packages: specs, program: named ? first : undefined, args: behind, settings }
}

/** The arguments of a program behind a launcher that takes what looks like an option for its own until `--`. */
function plainArguments(args: readonly string[]): readonly string[] | undefined {
  const end = args.includes('--') ? args.indexOf('--') : args.length
  const before = args.slice(0, end)
  if (before.some((arg) => arg.startsWith('-'))) return undefined
  return [...before, ...args.slice(end + 1)]
}

/**
 * Whether the working folder, or one above it, has the program installed, which launchers then run, or has settings
 * for the launcher. The user's own file counts everywhere, also without the launcher.
 */
function isInProject(
  { packages, program, settings }: PackageCommand,
  cwd: string,
  env: LaunchPlace['env'],
): boolean {
  const name = program ?? packages[0]?.replace(/^@[^/]*\//, '').replace(/@.*$/, '') ?? ''
  const files = [join('node_modules', '.bin', name), ...settings]
  const userFile = resolve(env['HOME'] ?? homedir(), '.npmrc')
  for (let folder = cwd; ; folder = dirname(folder)) {
    const paths = files.map((file) => join(folder, file))
    if (paths.some((path) => path !== userFile && existsSync(path))) return true
    if (folder === dirname(folder)) return false
  }
}

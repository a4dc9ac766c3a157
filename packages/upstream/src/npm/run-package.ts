/**
 * The program that installs packages if they are missing, and then becomes their program. Its arguments: the packages as
 * JSON, the name of the program or nothing, and the arguments of the program.
 */
export const RUN_PACKAGE_SCRIPT = `(${runPackage.toString()})(require)`

/**
 * Runs in a process of the server, where nothing of this file is known: in its sandbox, as its user, and with the Node
 * on its `PATH`.
 */
function runPackage(load: NodeJS.Require): void {
  const fs = load('node:fs') as typeof import('node:fs')
  const path = load('node:path') as typeof import('node:path')
  const { spawnSync } = load('node:child_process') as typeof import('node:child_process')
  const { createHash } = load('node:crypto') as typeof import('node:crypto')
  const { homedir } = load('node:os') as typeof import('node:os')

  const [node = '', packages = '[]', program = '', ...args] = process.argv
  const specs = JSON.parse(packages) as readonly string[]
  const { env, platform, arch, versions } = process
  const caches = path.join(setting('cache') ?? path.join(homedir(), '.npm'), '_mcp-host')
  const about = JSON.stringify([specs, platform, arch, versions.modules, ...sources()])
  const key = createHash('sha256').update(about).digest('hex').slice(0, 16)
  const folder = path.join(caches, key)

  /** A setting of npm in the environment, which npm reads in any case. */
  function setting(name: string): string | undefined {
    return Object.entries(env).find(([each]) => each.toLowerCase() === `npm_config_${name}`)?.[1]
  }

  /** The settings that decide where packages come from, and whether their scripts run. */
  function sources(): string[] {
    const given = Object.entries(env).map(([name, value]) => `${name}=${value}`)
    const own = given.filter((line) => /^npm_config_/i.test(line)).toSorted()
    return [...own, ...userLines()].filter((line) => /^[^=]*(?:registry|scripts)\s*=/i.test(line))
  }

  function userLines(): string[] {
    try {
      const file = setting('userconfig') ?? path.join(homedir(), '.npmrc')
      return fs.readFileSync(file, 'utf8').split('\n')
    } catch {
      // npm does without a file that it cannot read, too.
      return []
    }
  }

  /** Removes the folders of installations that were killed, but none that another process may be filling. */
  function clear(): void {
    for (const name of fs.readdirSync(caches).filter((each) => each.includes('.'))) {
      const left = path.join(caches, name)
      try {
        const ageMs = Date.now() - fs.statSync(left).mtimeMs
        if (ageMs > 3_600_000) fs.rmSync(left, { recursive: true, force: true })
      } catch {
        // Another process may be removing or renaming it; else the next installation tries again.
      }
    }
  }

  function install(): void {
    fs.mkdirSync(caches, { recursive: true })
    clear()
    const fresh = fs.mkdtempSync(`${folder}.`)
    fs.writeFileSync(path.join(fresh, 'package.json'), '{ "private": true }')
    const options = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error']
    const npm = ['install', '--prefix', fresh, ...options, '--', ...specs]
    // What npm prints to stdout is no message of the protocol.
    const { status, error } = spawnSync('npm', npm, { cwd: fresh, stdio: ['ignore', 2, 2] })
    try {
      if (status !== 0) {
        throw error ?? new Error(`npm could not install ${specs.join(' ')}; see the lines before`)
      }
      fs.renameSync(fresh, folder)
    } catch (failure) {
      fs.rmSync(fresh, { recursive: true, force: true })
      // Another process may have installed them at the same time.
      if (!fs.existsSync(folder)) throw failure
    }
  }

  /** The path of the program, without links. */
  function find(): string {
    const [spec = ''] = specs
    const name = /^@?[^@]+/.exec(spec)?.[0] ?? spec
    const manifest = path.join(folder, 'node_modules', name, 'package.json')
    const { bin = {} } = JSON.parse(fs.readFileSync(manifest, 'utf8')) as {
      readonly bin?: string | Readonly<Record<string, string>>
    }
    const plain = name.replace(/^@[^/]*\//, '')
    const bins = typeof bin === 'string' ? { [plain]: bin } : bin
    const [only, ...others] = Object.keys(bins)
    const chosen = program || (others.length === 0 ? only : plain)
    const file = path.join(folder, 'node_modules', '.bin', chosen ?? '')
    if (chosen !== undefined && fs.existsSync(file)) return fs.realpathSync(file)
    const has = only === undefined ? 'none' : Object.keys(bins).join(', ')
    throw new Error(`the package ${name} has no program "${chosen ?? plain}"; it has: ${has}`)
  }

  function run(file: string): void {
    const bins = path.join(folder, 'node_modules', '.bin')
    env['PATH'] = `${bins}:${env['PATH'] ?? ''}`
    const head = fs.readFileSync(file, 'latin1').slice(0, 200)
    if (head.startsWith('#!') && !/^#!.*\bnode\b/.test(head)) {
      const { status, error } = spawnSync(file, args, { stdio: 'inherit' })
      if (error !== undefined) throw error
      process.exitCode = status ?? 1
      return
    }
    process.argv = [node, file, ...args]
    // Processes that the program forks would run this script again.
    process.execArgv = []
    process.title = ['node', file, ...args].join(' ')
    const { runMain } = load('node:module') as { readonly runMain: (file: string) => void }
    runMain(file)
  }

  try {
    if (!fs.existsSync(folder)) install()
    run(find())
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  }
}

// The commands for operators as one program, for the image `tools`, where npm cannot run them.
const commands = new Map<string, () => Promise<unknown>>([
  ['accounts', () => import('./accounts.ts')],
  ['audit', () => import('./audit.ts')],
  ['bus-accounts', () => import('./bus-accounts.ts')],
  ['keys', () => import('./keys.ts')],
  ['login', () => import('./login/login.ts')],
  ['policy', () => import('./policy.ts')],
  ['servers', () => import('./servers.ts')],
])

// Each command reads the rest of the arguments.
const [name = ''] = process.argv.splice(2, 1)
const load = commands.get(name)
if (load === undefined) {
  const list = Array.from(commands.keys()).join(', ')
  process.stderr.write(`Give one of the commands ${list}; each explains itself with --help.\n`)
  process.exitCode = 2
} else {
  await load()
}

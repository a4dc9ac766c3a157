// Starts the program of its arguments as a host does, and ends by its first argument (`exit`, `throw`,
// `SIGTERM` or `SIGKILL`) once its input ends.
import { Guardian } from '../src/guardian.ts'
import { spawnGuarded } from '../src/spawn-guarded.ts'

const [, , ending = '', command = '', ...args] = process.argv
await spawnGuarded(new Guardian(), { command, args, cwd: '/', env: process.env })
process.stdin.resume().on('end', () => {
  if (ending === 'exit') process.exit(0)
  if (ending === 'throw') throw new Error('uncaught')
  process.kill(process.pid, ending)
})

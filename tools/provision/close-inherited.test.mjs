import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const module = join(import.meta.dirname, 'close-inherited.mjs')
const program = `
import { closeInherited } from ${JSON.stringify(module)}
import { execFileSync } from 'node:child_process'
if (process.argv[1] === 'close') closeInherited()
console.log(execFileSync('sh', ['-c', 'ls -l /proc/self/fd'], { encoding: 'utf8' }))`

test.skipIf(process.platform !== 'linux')(
  'programs do not get what was open before the start (Linux)',
  () => {
    const run = (...args) =>
      execFileSync(
        'bash',
        [
          '-c',
          'exec 200< /etc 100< /etc; "$@"',
          'bash',
          process.execPath,
          '--input-type=module',
          '-e',
          program,
          ...args,
        ],
        { encoding: 'utf8' },
      )
    expect(run().match(/ -> \/etc$/gm)).toHaveLength(2)
    expect(run('close')).not.toMatch(/ -> \/etc$/m)
  },
)

import { spawn } from 'node:child_process'
import { open, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually, testFolder } from '@mcp-host/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { rotateLog } from './limit-log-size.ts'

test('the log of a process that goes on writing is begun anew, and three before it are kept', async () => {
  await using folder = await testFolder()
  const path = join(folder.path, 'it.log')
  const log = await open(path, 'a')
  const script = `let line = 0; setInterval(() => console.log('line ' + line++), 1)`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', log.fd, 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await log.close()
  await rotateLog(path, 1_000_000)
  expect(await readdir(folder.path)).toEqual(['it.log'])
  for (let time = 0; time < 5; time += 1) {
    await eventually(async () => (await stat(path)).size >= 100)
    await rotateLog(path, 100)
  }
  // It goes on where the file ends, not where it was.
  await eventually(async () => (await readFile(path, 'utf8')).startsWith('line '))
  const files = await readdir(folder.path)
  expect(files.toSorted()).toEqual(['it.log', 'it.log.1', 'it.log.2', 'it.log.3'])
  const first = async (file: string): Promise<number> => {
    const text = await readFile(join(folder.path, file), 'utf8')
    return Number(/^line (\d+)/.exec(text)?.[1])
  }
  const firsts = await Promise.all(files.toSorted().map(first))
  expect(firsts).toEqual(firsts.toSorted((one, other) => other - one))
})

test('a log that is not there, or cannot be copied, is nobody else’s trouble', async () => {
  await expect(rotateLog('/nowhere/at/all.log', 0)).resolves.toBeUndefined()
})

// Folders and files that are swapped for links while they are used.
import { renameSync, symlinkSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'

import { expect, onTestFinished, test } from 'vitest'

import { textOf } from '@mcp-host/mcp-testkit'
import { FilesStage, SECRET } from '../../test/files-stage.ts'
import { ComparedPlace, SwappedError } from './access/compared-place.ts'
import { toFileError } from './access/file-error.ts'

const READS = 500
const OTHERS = 170

/** Swaps an entry for a link and back without a pause, until it is ended. */
async function swapInLoop(entry: string, target: string): Promise<void> {
  const program = `
    const { renameSync, symlinkSync, unlinkSync } = require('node:fs')
    const { parentPort, workerData: { entry, target } } = require('node:worker_threads')
    parentPort.postMessage('ready')
    for (let made = 0; ; ) {
      renameSync(entry, entry + '.kept')
      try {
        symlinkSync(target, entry)
        unlinkSync(entry)
      } catch {
        // The server has made a folder of the name meanwhile.
      }
      for (let isBack = false; !isBack; ) {
        try {
          renameSync(entry + '.kept', entry)
          isBack = true
        } catch {
          renameSync(entry, entry + '.made-' + made++)
        }
      }
    }`
  const worker = new Worker(program, { eval: true, workerData: { entry, target } })
  onTestFinished(async () => {
    await worker.terminate()
  })
  await new Promise((resolve) => worker.once('message', resolve))
}

/** Asks for many operations, a few at a time, and returns how they ended. */
async function askMany(
  count: number,
  operation: (index: number) => Promise<string>,
): Promise<Map<string, number>> {
  const ends = new Map<string, number>()
  let next = 0
  const askOneByOne = async (): Promise<void> => {
    while (next < count) {
      const end = await operation(next++)
      ends.set(end, (ends.get(end) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: 8 }, askOneByOne))
  return ends
}

const read = (stage: FilesStage, path: string) => async (): Promise<string> => {
  const { isError, content } = await stage.call('fs_read', { path })
  return isError === true ? 'refused' : textOf({ content })
}

test('a folder that is swapped for a link while it is read never shows what is outside', async () => {
  const stage = await FilesStage.open()
  await stage.write('work/sub/secret.txt', 'inside')
  await swapInLoop(stage.path('work', 'sub'), stage.path('outside'))
  const ends = await askMany(READS, read(stage, 'work/sub/secret.txt'))
  expect([...ends.keys()].toSorted()).toEqual(['inside', 'refused'])
})

test('a file that is swapped for a link while it is read never shows what is outside', async () => {
  const stage = await FilesStage.open()
  await stage.write('work/file.txt', 'inside')
  await swapInLoop(stage.path('work', 'file.txt'), stage.path('outside', 'secret.txt'))
  const ends = await askMany(READS, read(stage, 'work/file.txt'))
  expect([...ends.keys()].toSorted()).toEqual(['inside', 'refused'])
})

test.each(['overwrite', 'append', 'create'])(
  'a folder that is swapped for a link during writes in the mode %s changes nothing outside',
  async (mode) => {
    const stage = await FilesStage.open()
    await stage.write('work/sub/secret.txt', 'inside')
    const outside = await stage.snapshot('outside')
    await swapInLoop(stage.path('work', 'sub'), stage.path('outside'))
    const ends = await askMany(OTHERS, async (index) => {
      const name = mode === 'create' ? `new-${index}` : 'secret.txt'
      const { isError } = await stage.call('fs_write', {
        path: `work/sub/${name}`,
        content: 'x',
        mode,
        createFolders: index % 2 === 0,
      })
      return isError === true ? 'refused' : 'written'
    })
    expect([...ends.keys()].toSorted()).toEqual(['refused', 'written'])
    expect(await stage.snapshot('outside')).toEqual(outside)
  },
)

test('a folder that is swapped for a link during searches and lists never shows what is outside', async () => {
  const stage = await FilesStage.open()
  await stage.write('work/sub/inside.txt', 'inside')
  await swapInLoop(stage.path('work', 'sub'), stage.path('outside'))
  const text = await askMany(OTHERS, async (index) => {
    const { content } = await (index % 2 === 0
      ? stage.call('fs_search', { path: 'work', text: 'i' })
      : stage.call('fs_list', { path: 'work', depth: 3 }))
    return JSON.stringify(content)
  })
  const all = [...text.keys()].join('\n')
  expect(all).toContain('inside.txt')
  expect(all).not.toContain('secret.txt')
  expect(all).not.toContain(SECRET)
})

test('without descriptors a swapped folder is found by comparison', async () => {
  const stage = await FilesStage.open()
  await stage.write('work/sub/secret.txt', 'inside')
  const root = await ComparedPlace.openRoot(stage.path('work'))
  const folder = await root.child('sub')
  const file = await folder.child('secret.txt')
  renameSync(stage.path('work', 'sub'), stage.path('work', 'kept'))
  symlinkSync(stage.path('outside'), stage.path('work', 'sub'))
  await expect(file.open(0)).rejects.toThrow(SwappedError)
  await expect(folder.child('secret.txt')).rejects.toThrow(SwappedError)
  await expect(folder.verify()).rejects.toThrow(SwappedError)
})

test('without descriptors a file that is swapped for a link is not opened', async () => {
  const stage = await FilesStage.open()
  await stage.write('work/file.txt', 'inside')
  const file = await (await ComparedPlace.openRoot(stage.path('work'))).child('file.txt')
  renameSync(stage.path('work', 'file.txt'), stage.path('work', 'kept.txt'))
  symlinkSync(stage.path('outside', 'secret.txt'), stage.path('work', 'file.txt'))
  await expect(file.open(0)).rejects.toThrow('ELOOP')
})

test('without descriptors a file that is swapped for another one is not read', async () => {
  const stage = await FilesStage.open()
  await stage.write('work/file.txt', 'inside')
  const file = await (await ComparedPlace.openRoot(stage.path('work'))).child('file.txt')
  await writeFile(stage.path('work', 'other.txt'), 'other')
  renameSync(stage.path('work', 'other.txt'), stage.path('work', 'file.txt'))
  await expect(file.open(0)).rejects.toThrow(SwappedError)
})

test('a swapped entry is an error that says so', () => {
  expect(toFileError(new SwappedError(), 'work/sub')).toMatchObject({
    message: '"work/sub": was replaced while it was in use; try again',
  })
})

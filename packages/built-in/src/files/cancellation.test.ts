import { expect, test } from 'vitest'

import { FilesStage } from '../../test/files-stage.ts'
import { FileTree } from './access/file-tree.ts'
import { readBytes } from './content/read-bytes.ts'
import { searchFiles } from './content/search-files.ts'
import { writeFile } from './content/write-file.ts'

async function openTree() {
  const stage = await FilesStage.open()
  const tree = new FileTree({ roots: [{ name: 'work', path: stage.path('work') }] })
  return { stage, tree, controller: new AbortController() }
}

test('a cancelled search visits no more entries', async () => {
  const { stage, tree, controller } = await openTree()
  for (let index = 0; index < 30; index++) await stage.write(`work/${index}`)
  const { signal } = controller
  let visited = 0
  const isMatch = (): boolean => {
    visited += 1
    if (visited === 10) controller.abort(new Error('cancelled'))
    return false
  }
  const search = tree.use('work', signal, (path, stack) =>
    searchFiles(tree, { path, isMatch, lines: undefined, after: [], limit: 10, signal }, stack),
  )
  await expect(search).rejects.toThrow('cancelled')
  expect(visited).toBe(10)
  expect(stage.openDescriptors()).toEqual([])
})

test.each(['create', 'overwrite', 'append'] as const)(
  'a cancelled write in the mode %s changes nothing',
  async (mode) => {
    const { stage, tree, controller } = await openTree()
    await stage.write('work/old', 'old')
    const before = await stage.snapshot('work')
    const { signal } = controller
    const options = { mode, createFolders: false, signal }
    const name = mode === 'create' ? 'new' : 'old'
    const write = tree.use(`work/${name}`, signal, (path, stack) => {
      controller.abort(new Error('cancelled'))
      return writeFile(tree, path, Buffer.from('new'), options, stack)
    })
    await expect(write).rejects.toThrow('cancelled')
    expect(await stage.snapshot('work')).toEqual(before)
  },
)

test('a cancelled read stops', async () => {
  const { stage, tree, controller } = await openTree()
  await stage.write('work/a', 'x'.repeat(1_000))
  const { signal } = controller
  const read = tree.use('work/a', signal, async (path, stack) => {
    const place = await tree.open(path, stack)
    controller.abort(new Error('cancelled'))
    return readBytes(place, path.given, { offset: 0, length: 1_000, signal })
  })
  await expect(read).rejects.toThrow('cancelled')
  expect(stage.openDescriptors()).toEqual([])
})

test('a request that is cancelled while it waits does no work', async () => {
  const { tree, controller } = await openTree()
  controller.abort(new Error('cancelled'))
  let hasRun = false
  const waiting = tree.use('work', controller.signal, async () => {
    hasRun = true
  })
  await expect(waiting).rejects.toThrow('cancelled')
  expect(hasRun).toBe(false)
})

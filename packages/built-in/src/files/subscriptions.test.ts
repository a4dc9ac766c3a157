import { existsSync, globSync, readFileSync } from 'node:fs'
import { rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'

import { expect, test } from 'vitest'

import { eventually } from '@mcp-host/mcp-testkit'
import { FilesStage } from '../../test/files-stage.ts'

/** A stage whose file `a.txt` is subscribed to, and the URIs of its notifications. */
async function subscribe(limits = {}) {
  const stage = await FilesStage.open({ limits })
  await stage.write('work/a.txt', 'one')
  await stage.write('work/b.txt', 'one')
  const uri = pathToFileURL(stage.path('work', 'a.txt')).href
  const updates: string[] = []
  stage.client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    updates.push(params.uri)
  })
  await stage.client.subscribeResource({ uri })
  return { stage, uri, updates }
}

test('a change of a subscribed file is told, and that of another one is not', async () => {
  const { stage, uri, updates } = await subscribe()
  await writeFile(stage.path('work', 'b.txt'), 'two')
  await writeFile(stage.path('work', 'a.txt'), 'two')
  await eventually(() => updates.length > 0)
  expect(new Set(updates)).toEqual(new Set([uri]))
})

test.each([
  [
    'replaced',
    (stage: FilesStage) => rename(stage.path('work', 'b.txt'), stage.path('work', 'a.txt')),
  ],
  ['removed', (stage: FilesStage) => rm(stage.path('work', 'a.txt'))],
  [
    'overwritten by a tool',
    (stage: FilesStage) =>
      stage.output('fs_write', { path: 'a.txt', content: 'two', mode: 'overwrite' }),
  ],
])('a subscribed file that is %s is told', async (_title, change) => {
  const { stage, uri, updates } = await subscribe()
  await change(stage)
  await eventually(() => updates.includes(uri))
})

test('after the end of a subscription nothing is told', async () => {
  const { stage, uri, updates } = await subscribe()
  const other = pathToFileURL(stage.path('work', 'b.txt')).href
  await stage.client.subscribeResource({ uri: other })
  await stage.client.unsubscribeResource({ uri })
  await writeFile(stage.path('work', 'a.txt'), 'two')
  await writeFile(stage.path('work', 'b.txt'), 'two')
  await eventually(() => updates.includes(other))
  expect(updates).not.toContain(uri)
})

test('subscriptions are limited, and the same one counts once', async () => {
  const { stage, uri } = await subscribe({ maxSubscriptions: 2 })
  await stage.client.subscribeResource({ uri })
  await stage.client.subscribeResource({ uri: pathToFileURL(stage.path('work', 'b.txt')).href })
  await stage.write('work/c.txt')
  const third = stage.client.subscribeResource({
    uri: pathToFileURL(stage.path('work', 'c.txt')).href,
  })
  await expect(third).rejects.toThrow('end one of them first')
})

test('a folder that is replaced by a link is not watched in its place', async () => {
  const { stage, updates } = await subscribe()
  await stage.write('work/sub/secret.txt', 'inside')
  const uri = pathToFileURL(stage.path('work', 'sub', 'secret.txt')).href
  await stage.client.subscribeResource({ uri })
  await rename(stage.path('work', 'sub'), stage.path('work', 'kept'))
  await symlink(stage.path('outside'), stage.path('work', 'sub'))
  await writeFile(stage.path('outside', 'secret.txt'), 'changed')
  await writeFile(stage.path('work', 'a.txt'), 'two')
  await eventually(() => updates.length > 0)
  expect(updates).not.toContain(uri)
})

test('watches end with the connection', async () => {
  const { stage } = await subscribe()
  const { ino } = await stat(stage.path('work'))
  expect(watchesOf(ino)).toHaveLength(1)
  await stage.client.close()
  await eventually(() => watchesOf(ino).length === 0)
})

/** The watches of this process on one folder. */
function watchesOf(inode: number): string[] {
  return globSync('/proc/self/fdinfo/*')
    .flatMap((file) => (existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []))
    .filter((line) => line.startsWith('inotify') && line.includes(`ino:${inode.toString(16)} `))
}

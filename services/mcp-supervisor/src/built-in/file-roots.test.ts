import { expect, test } from 'vitest'
import { fileRoots } from './file-roots.ts'

test('roots are named by their folders, and are read-only unless the entry says otherwise', () => {
  const roots = [
    'file:///a/docs',
    'file:///b/docs',
    'file:///c/My%20notes',
    'file:///.x',
    'file:///',
  ]
  expect(fileRoots({ roots })).toEqual([
    { name: 'docs', path: '/a/docs', readOnly: true },
    { name: 'docs-2', path: '/b/docs', readOnly: true },
    { name: 'My-notes', path: '/c/My notes', readOnly: true },
    { name: 'x', path: '/.x', readOnly: true },
    { name: 'root', path: '/', readOnly: true },
  ])
  expect(fileRoots({ roots: ['file:///a'], writable: true })).toMatchObject([{ readOnly: false }])
})

import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FilesRoot } from '@mcp-host/built-in/files'
import type { BuiltInServerConfig } from '@mcp-host/upstream'

/** The folders of the built-in server `files`, each by the name of its last part, with a number where two have the same. */
export function fileRoots({
  roots = [],
  writable = false,
}: Pick<BuiltInServerConfig, 'roots' | 'writable'>): FilesRoot[] {
  const taken = new Set<string>()
  return roots.map((uri) => {
    const path = fileURLToPath(uri)
    const plain = basename(path)
      .replaceAll(/[^\p{L}\p{N}._-]+/gu, '-')
      .replace(/^[._-]+/, '')
      .slice(0, 60)
    const first = plain === '' ? 'root' : plain
    let name = first
    for (let count = 2; taken.has(name); count += 1) name = `${first}-${count}`
    taken.add(name)
    return { name, path, readOnly: !writable }
  })
}

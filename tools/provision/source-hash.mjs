import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** A name for the content of files and of all files in folders, whose paths begin at `root`. Missing ones are left out. */
export function sourceHash(root, paths, isSource = () => true) {
  const hash = createHash('sha256')
  for (const file of paths.flatMap((path) => filesAt(root, path)).filter(isSource)) {
    hash.update(`${file}\0`).update(readFileSync(join(root, file)))
  }
  return hash.digest('hex').slice(0, 32)
}

/** Links, as to installed packages, are not followed. */
function filesAt(root, path) {
  const stats = statSync(join(root, path), { throwIfNoEntry: false })
  if (!stats?.isDirectory()) return stats === undefined ? [] : [path]
  const entries = readdirSync(join(root, path), { withFileTypes: true })
  const kept = entries.filter((each) => !each.isSymbolicLink() && each.name !== 'node_modules')
  const names = kept.map(({ name }) => name).toSorted()
  return names.flatMap((name) => filesAt(root, `${path}/${name}`))
}

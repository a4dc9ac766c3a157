// Writes the programs of `npm start` to a folder, for its launcher.
import { join } from 'node:path'
import { bundle } from './bundle.ts'
import { HOST_PROGRAMS } from './programs.ts'

const [folder = ''] = process.argv.slice(2)
await Promise.all(
  Array.from(HOST_PROGRAMS, ([name, entry]) =>
    bundle(entry, join(folder, name), { sourcemap: false }),
  ),
)

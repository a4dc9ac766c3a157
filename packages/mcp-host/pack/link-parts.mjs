// The last step of `npm pack`: the modules of the package import its parts, such as `@mcp-host/async`, which are no packages
// of their own for others. The compiler has put them beside the package into `dist`; here their names become paths.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const dist = join(import.meta.dirname, '..', 'dist')

for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  if (!/\.(js|d\.ts)$/.test(entry.name)) continue
  const file = join(entry.parentPath, entry.name)
  const text = readFileSync(file, 'utf8')
  const linked = text.replaceAll(
    /(['"])@mcp-host\/([\w-]+)(?:\/([\w-]+))?\1/g,
    (_, quote, part, name = 'index') => {
      const path = relative(dirname(file), join(dist, part, 'src', `${name}.js`)).replaceAll(
        '\\',
        '/',
      )
      return `${quote}${path.startsWith('.') ? path : `./${path}`}${quote}`
    },
  )
  if (linked !== text) writeFileSync(file, linked)
}

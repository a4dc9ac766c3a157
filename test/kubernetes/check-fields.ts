import { execFile } from 'node:child_process'
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { testFolder } from '@mcp-host/testkit'
import type { Manifest } from './manifest.ts'

const root = join(import.meta.dirname, '..', '..')

/**
 * Finds fields that Kubernetes does not know, which it would ignore or refuse. The compiler looks for them: objects of a
 * literal have no field besides those of their type. Returns the faults of each object.
 */
export async function checkFields(
  manifests: readonly Manifest[],
): Promise<ReadonlyMap<Manifest, string[]>> {
  await using folder = await testFolder()
  await symlink(join(root, 'node_modules'), join(folder.path, 'node_modules'))
  // Each object has a line of its own, by which its errors are found.
  const lines = manifests.map((manifest) => {
    const { apiVersion, kind } = manifest
    const from = apiVersion.startsWith('keda.sh') ? '@kubernetes-models/keda' : 'kubernetes-models'
    const type = `import('${from}/${apiVersion}/${kind}').I${kind}`
    return `(${JSON.stringify(manifest)}) satisfies ${type};`
  })
  const file = join(folder.path, 'manifests.ts')
  await writeFile(file, `${lines.join('\n')}\nexport {}\n`)
  const output = await compile(file)
  const faults = new Map<Manifest, string[]>(manifests.map((manifest) => [manifest, []]))
  for (const [, line, message = ''] of output.matchAll(/manifests\.ts\((\d+),\d+\): (.*)/g)) {
    const manifest = manifests[Number(line) - 1]
    if (manifest !== undefined) faults.get(manifest)?.push(`field: ${message.slice(0, 200)}`)
  }
  return faults
}

/** The errors of a file, one a line. Rejects when the compiler could not read it. */
function compile(file: string): Promise<string> {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--pretty', 'false', '--ignoreConfig']
  const args = [tsc, ...options, '--module', 'nodenext', '--target', 'es2024', file]
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { maxBuffer: 2 ** 26 }, (_, stdout) => {
      const other = stdout
        .split('\n')
        .find((line) => /^\S/.test(line) && !line.includes('manifests.ts('))
      if (other === undefined) resolve(stdout)
      else reject(new Error(other))
    })
  })
}

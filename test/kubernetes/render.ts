import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'

export const deployFolder = join(import.meta.dirname, '..', '..', 'deploy', 'k8s')

const COMMANDS = [
  ['kustomize', 'build'],
  ['kubectl', 'kustomize'],
]

/** The command that renders a folder; `undefined` where neither Kustomize nor kubectl is installed. */
export const kustomize = COMMANDS.find(
  ([program = '', ...args]) => spawnSync(program, [...args, '--help']).status === 0,
)

/** The manifests of a folder, as YAML. `folder`: below `deploy/k8s`, or its absolute path. */
export function render(folder: string): string {
  const [program = '', ...args] = kustomize ?? []
  const { status, stdout, stderr } = spawnSync(program, [...args, resolve(deployFolder, folder)], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
  return stdout
}

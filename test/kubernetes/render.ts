import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

const folder = join(import.meta.dirname, '..', '..', 'deploy', 'k8s')

const COMMANDS = [
  ['kustomize', 'build'],
  ['kubectl', 'kustomize'],
]

/** The command that renders a folder; `undefined` where neither Kustomize nor kubectl is installed. */
export const kustomize = COMMANDS.find(
  ([program = '', ...args]) => spawnSync(program, [...args, '--help']).status === 0,
)

/** The manifests of an overlay, as YAML. */
export function render(overlay: string): string {
  const [program = '', ...args] = kustomize ?? []
  const { status, stdout, stderr } = spawnSync(program, [...args, join(folder, overlay)], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
  return stdout
}

export { childEnvironment } from './config/child-environment.ts'
export { stopProcess, type StopOptions } from './process/stop-process.ts'
export { LineSplitter } from './transport/line-splitter.ts'
export { Guardian } from './process/guardian.ts'
export { LaunchError } from './process/launch.ts'
export {
  type GuardedProcess,
  type ProcessExit,
  spawnGuarded,
  type SpawnOptions,
  type Stdio,
} from './process/spawn-guarded.ts'

export { stopProcess, type StopOptions } from '../stop/stop-process.ts'
export { LineSplitter } from '../transport/line-splitter.ts'
export { Guardian } from './guardian.ts'
export { LaunchError } from './launch.ts'
export {
  type GuardedProcess,
  type ProcessExit,
  spawnGuarded,
  type SpawnOptions,
  type Stdio,
} from './spawn-guarded.ts'

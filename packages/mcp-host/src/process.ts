export {
  childEnvironment,
  type GuardedProcess,
  Guardian,
  LaunchError,
  LineSplitter,
  type ProcessExit,
  spawnGuarded,
  type SpawnOptions,
  type Stdio,
  stopProcess,
  type StopOptions,
} from '@mcp-host/process'

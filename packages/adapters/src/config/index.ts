export {
  type Config,
  ConfigError,
  environmentWith,
  NO_DIRECTORY,
  nearest,
  type RouterConfig,
  readRouterConfig,
  readServiceConfig,
  readStandaloneConfig,
} from './config.ts';
export { CALLED_BY, ENVIRONMENT, INSTALLED, STARTED_BY } from './environment.ts';
export type { ModelAt } from './models.ts';
export {
  flagOf,
  refuseArguments,
  SETTINGS,
  type SettingNote,
  settingsByHeading,
} from './settings-list.ts';

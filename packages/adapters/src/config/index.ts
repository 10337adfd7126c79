export {
  type Config,
  ConfigError,
  environmentWith,
  NO_DIRECTORY,
  type RouterConfig,
  readRouterConfig,
  readServiceConfig,
  readStandaloneConfig,
} from './config.ts';
export { ENVIRONMENT } from './environment.ts';
export { CALLED_BY, INSTALLED, STARTED_BY } from './installed.ts';
export type { ModelAt } from './models.ts';
export { nearest } from './nearest.ts';
export { ArgumentError, refuseArguments } from './refuse-arguments.ts';
export { between, flagOf, SETTINGS, type SettingNote, type SettingsGroup, settingsByHeading } from './settings-list.ts';

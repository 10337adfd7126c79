export { type Config, ConfigError, environmentWith, readServiceConfig, readStandaloneConfig } from './config.ts';
export { ENVIRONMENT } from './environment.ts';
export { ArgumentError, refuseArguments } from './refuse-arguments.ts';
export { flagOf, SETTINGS, type SettingNote } from './settings-list.ts';

export { type Config, ConfigError, readServiceConfig, readStandaloneConfig } from './config.ts';
export { ENVIRONMENT, NOT_YET } from './environment.ts';
export { SETTINGS, type SettingNote } from './settings-list.ts';

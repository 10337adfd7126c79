export { type Config, ConfigError, readServiceConfig, readStandaloneConfig } from './config.ts';
export { ENVIRONMENT } from './environment.ts';
export { SETTINGS, type SettingNote } from './settings-list.ts';

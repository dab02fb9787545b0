/** Generated from the OpenAPI document by `npm run openapi`. */

export interface paths {
    "/v1/pins/{resourceType}/{resourceId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Update a pin
         * @description Places the pin of a resource directly before or after another pin of yours. If the resource is not pinned yet, the pin is made. The order is one list across all types.
         *
         *     Scope: `pins:write`, with a key that acts as a user.
         */
        patch: operations["updatePin"];
        trace?: never;
    };
    "/v1/projects/{projectId}/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a project schedule
         * @description Creates a recurring build schedule for a project.
         *
         *     Scope: `schedules:write`.
         */
        post: operations["createProjectSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agentId}/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create an agent schedule
         * @description Creates a recurring schedule for an agent. Its cron expression is in UTC.
         *
         *     Scope: `schedules:write`.
         */
        post: operations["createAgentSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{sessionId}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List session files
         * @description Lists the persisted files of a session in order of creation, without their contents. Pass `nextCursor` as `cursor` to get the next page.
         *
         *     Scope: `session-files:read`.
         */
        get: operations["listSessionFiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/skills/{skillId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve a skill
         * @description Answers with a skill of the organization and all of its files.
         *
         *     Scope: `skills:read`.
         */
        get: operations["retrieveSkill"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{userId}/profile-picture": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a profile picture
         * @description Deletes the caller's own profile picture. It succeeds when there is none.
         *
         *     Scope: `profile-picture:write`, with a key that acts as a user.
         */
        delete: operations["deleteProfilePicture"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectId}/environment-variables/{key}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a project environment variable
         * @description Deletes one encrypted environment variable of a project.
         *
         *     Scope: `environment-variables:write`.
         */
        delete: operations["deleteEnvironmentVariable"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * @example {
         *       "placement": {
         *         "target": {
         *           "type": "project",
         *           "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70"
         *         },
         *         "position": "before"
         *       }
         *     }
         */
        PinPlacement: {
            placement: {
                target: {
                    /**
                     * @description The kind of resource that the target pin pins.
                     * @enum {string}
                     */
                    type: "session" | "pull_request" | "project";
                    /**
                     * Format: uuid
                     * @description The resource that the target pin pins.
                     * @example 0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70
                     */
                    id: string;
                };
                /**
                 * @description On which side of the target.
                 * @enum {string}
                 */
                position: "before" | "after";
            };
        };
        /**
         * @example {
         *       "cron": "30 9 * * mon-fri",
         *       "timezone": "Europe/Paris"
         *     }
         */
        NewProjectSchedule: {
            /**
             * @description Five fields (minute, hour, day of month, month, day of week) with numbers, names, lists, ranges and steps, or one of @hourly @daily @midnight @weekly @monthly @yearly @annually.
             * @example 30 9 * * mon-fri
             */
            cron: string;
            /**
             * @description An IANA time zone name.
             * @example Europe/Paris
             */
            timezone: string;
        };
        /**
         * @example {
         *       "cron": "0 6 * * *"
         *     }
         */
        NewAgentSchedule: {
            /**
             * @description Five fields (minute, hour, day of month, month, day of week) with numbers, names, lists, ranges and steps, or one of @hourly @daily @midnight @weekly @monthly @yearly @annually.
             * @example 30 9 * * mon-fri
             */
            cron: string;
        };
        PinUpdate: {
            /** @description False if the pin already stood there. */
            updated: boolean;
        };
        /**
         * @example {
         *       "error": "placement.position: expected \"before\" or \"after\""
         *     }
         */
        Error: {
            /** @description What to change. */
            error: string;
        };
        ProjectSchedule: {
            /**
             * Format: uuid
             * @example 0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70
             */
            id: string;
            projectId: string;
            cron: string;
            timezone: string;
            /** @description Since when it is enabled; null while it is paused. */
            enabledAt: string | null;
            /** @description Its latest run; null before the first. */
            lastRunAt: string | null;
            /** @description The next instant that it fires at; null while it is paused. */
            nextRunAt: string | null;
            /**
             * Format: date-time
             * @example 2026-03-29T01:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @example 2026-03-29T01:00:00.000Z
             */
            updatedAt: string;
        };
        AgentSchedule: {
            /**
             * Format: uuid
             * @example 0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70
             */
            id: string;
            /**
             * Format: uuid
             * @example 0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70
             */
            agentId: string;
            cron: string;
            /** @description Since when it is enabled; null while it is paused. */
            enabledAt: string | null;
            /** @description Its latest run; null before the first. */
            lastRunAt: string | null;
            /** @description The next instant that it fires at; null while it is paused. */
            nextRunAt: string | null;
            /**
             * Format: date-time
             * @example 2026-03-29T01:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @example 2026-03-29T01:00:00.000Z
             */
            updatedAt: string;
        };
        SessionFilePage: {
            items: components["schemas"]["SessionFile"][];
            /** @description Where the next page begins; null on the last page. */
            nextCursor: string | null;
        };
        SessionFile: {
            /**
             * Format: uuid
             * @example 0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70
             */
            id: string;
            /**
             * Format: uuid
             * @example 0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70
             */
            sessionId: string;
            path: string;
            /**
             * Format: date-time
             * @example 2026-03-29T01:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @example 2026-03-29T01:00:00.000Z
             */
            updatedAt: string;
        };
        Skill: {
            /**
             * Format: uuid
             * @example 0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70
             */
            id: string;
            name: string;
            description: string;
            /**
             * Format: date-time
             * @example 2026-03-29T01:00:00.000Z
             */
            createdAt: string;
            /**
             * Format: date-time
             * @example 2026-03-29T01:00:00.000Z
             */
            updatedAt: string;
            /** @description All files of the skill, in order of filename. */
            files: components["schemas"]["SkillFile"][];
        };
        SkillFile: {
            /**
             * Format: uuid
             * @example 0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70
             */
            id: string;
            filename: string;
            /** @description Exactly as it was stored. */
            content: string;
        };
        ProfilePictureDeletion: {
            userId: string;
            /** @constant */
            deleted: true;
        };
        EnvironmentVariableDeletion: {
            /** @constant */
            deleted: true;
            key: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    updatePin: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description What kind of resource is pinned. */
                resourceType: "session" | "pull_request" | "project";
                /** @description The pinned resource. */
                resourceId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PinPlacement"];
            };
        };
        responses: {
            /** @description The pin stands where it was asked to. */
            200: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "updated": true
                     *     }
                     */
                    "application/json": components["schemas"]["PinUpdate"];
                };
            };
            /** @description The path or body is wrong, or the key lacks the caller scope. */
            400: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The resource, or the target's pin, does not exist for this caller. */
            404: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The pin would be new, and the user already has the most pins allowed. */
            409: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The pin operation failed. */
            500: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Any other error of the service: 401 without a valid API key, 405 for a wrong method, 413 for a body that is too large, 429 for too many requests (`Retry-After` says when to ask again). */
            default: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    /** @description In how many seconds to ask again. */
                    "Retry-After"?: number;
                    /** @description With 401: how to authenticate (RFC 6750). */
                    "WWW-Authenticate"?: string;
                    /** @description With 405: the methods that the path answers. */
                    Allow?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createProjectSchedule: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The project. */
                projectId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewProjectSchedule"];
            };
        };
        responses: {
            /** @description The schedule is created, or was by an earlier request with this `Idempotency-Key`. */
            201: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    /** @description The path of the schedule. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70",
                     *       "projectId": "website",
                     *       "cron": "30 9 * * mon-fri",
                     *       "timezone": "Europe/Paris",
                     *       "enabledAt": "2026-03-27T14:05:09.120Z",
                     *       "lastRunAt": null,
                     *       "nextRunAt": "2026-03-30T07:30:00.000Z",
                     *       "createdAt": "2026-03-27T14:05:09.120Z",
                     *       "updatedAt": "2026-03-27T14:05:09.120Z"
                     *     }
                     */
                    "application/json": components["schemas"]["ProjectSchedule"];
                };
            };
            /** @description The path or body is wrong, or the key lacks the caller scope. */
            400: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The key is limited to other projects. */
            403: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The organization has no project with this id. */
            404: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The project is archived or has the most schedules allowed, or the `Idempotency-Key` was used with another body. */
            409: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The schedule could not be created. */
            500: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Any other error of the service: 401 without a valid API key, 405 for a wrong method, 413 for a body that is too large, 429 for too many requests (`Retry-After` says when to ask again). */
            default: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    /** @description In how many seconds to ask again. */
                    "Retry-After"?: number;
                    /** @description With 401: how to authenticate (RFC 6750). */
                    "WWW-Authenticate"?: string;
                    /** @description With 405: the methods that the path answers. */
                    Allow?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    createAgentSchedule: {
        parameters: {
            query?: never;
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description The agent. */
                agentId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAgentSchedule"];
            };
        };
        responses: {
            /** @description The schedule is created, or was by an earlier request with this `Idempotency-Key`. */
            201: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    /** @description The path of the schedule. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70",
                     *       "agentId": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e903",
                     *       "cron": "0 6 * * *",
                     *       "enabledAt": "2026-03-27T14:05:09.120Z",
                     *       "lastRunAt": null,
                     *       "nextRunAt": "2026-03-28T06:00:00.000Z",
                     *       "createdAt": "2026-03-27T14:05:09.120Z",
                     *       "updatedAt": "2026-03-27T14:05:09.120Z"
                     *     }
                     */
                    "application/json": components["schemas"]["AgentSchedule"];
                };
            };
            /** @description The path or body is wrong, or the key lacks the caller scope. */
            400: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The organization has no agent with this id. */
            404: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The agent is archived or has the most schedules allowed, or the `Idempotency-Key` was used with another body. */
            409: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The schedule could not be created. */
            500: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Any other error of the service: 401 without a valid API key, 405 for a wrong method, 413 for a body that is too large, 429 for too many requests (`Retry-After` says when to ask again). */
            default: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    /** @description In how many seconds to ask again. */
                    "Retry-After"?: number;
                    /** @description With 401: how to authenticate (RFC 6750). */
                    "WWW-Authenticate"?: string;
                    /** @description With 405: the methods that the path answers. */
                    Allow?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    listSessionFiles: {
        parameters: {
            query?: {
                /** @description The most files of a page, from 1; above 1000 it means 1000. */
                limit?: string;
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description The session. */
                sessionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of files. */
            200: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70",
                     *           "sessionId": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e903",
                     *           "path": "src/app.ts",
                     *           "createdAt": "2026-03-29T01:00:00.000Z",
                     *           "updatedAt": "2026-03-29T01:00:00.000Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["SessionFilePage"];
                };
            };
            /** @description The path or a query parameter is wrong, or the key lacks the caller scope. */
            400: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The key is limited to projects other than the session's. */
            403: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The organization has no session with this id. */
            404: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The cursor is a file of another session. */
            409: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The session was deleted, and its files with it. */
            410: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The files could not be listed. */
            500: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The database cannot answer now; `Retry-After` says when to ask again. */
            503: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    /** @description In how many seconds to ask again. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Any other error of the service: 401 without a valid API key, 405 for a wrong method, 413 for a body that is too large, 429 for too many requests (`Retry-After` says when to ask again). */
            default: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    /** @description In how many seconds to ask again. */
                    "Retry-After"?: number;
                    /** @description With 401: how to authenticate (RFC 6750). */
                    "WWW-Authenticate"?: string;
                    /** @description With 405: the methods that the path answers. */
                    Allow?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    retrieveSkill: {
        parameters: {
            query?: never;
            header?: {
                /** @description Entity tags that you already have; if one is current, the answer is 304. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description The skill. */
                skillId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The skill and all of its files. */
            200: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    /** @description The entity tag of the skill: it changes with every change of the skill or its files. */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70",
                     *       "name": "release-notes",
                     *       "description": "Writes release notes from merged pull requests.",
                     *       "createdAt": "2026-03-02T09:15:00.000Z",
                     *       "updatedAt": "2026-03-29T01:00:00.000Z",
                     *       "files": [
                     *         {
                     *           "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c71",
                     *           "filename": "SKILL.md",
                     *           "content": "---\nname: release-notes\n---\n"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Skill"];
                };
            };
            /** @description What you have is current. */
            304: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    /** @description The entity tag of the skill: it changes with every change of the skill or its files. */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The path is wrong, or the key lacks the caller scope. */
            400: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The organization has no skill with this id. */
            404: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The skill could not be retrieved. */
            500: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Any other error of the service: 401 without a valid API key, 405 for a wrong method, 413 for a body that is too large, 429 for too many requests (`Retry-After` says when to ask again). */
            default: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    /** @description In how many seconds to ask again. */
                    "Retry-After"?: number;
                    /** @description With 401: how to authenticate (RFC 6750). */
                    "WWW-Authenticate"?: string;
                    /** @description With 405: the methods that the path answers. */
                    Allow?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteProfilePicture: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The user: the one that the key acts as. */
                userId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user has no profile picture. */
            200: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "userId": "ada",
                     *       "deleted": true
                     *     }
                     */
                    "application/json": components["schemas"]["ProfilePictureDeletion"];
                };
            };
            /** @description The path is wrong, or the key lacks the caller scope. */
            400: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The picture is not the caller's own. */
            403: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The organization has no user with this id. */
            404: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description An upload of a new picture is under way. */
            409: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The picture could not be deleted. */
            500: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description A store cannot answer now; `Retry-After` says when to ask again, and asking again is safe. */
            503: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    /** @description In how many seconds to ask again. */
                    "Retry-After"?: number;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Any other error of the service: 401 without a valid API key, 405 for a wrong method, 413 for a body that is too large, 429 for too many requests (`Retry-After` says when to ask again). */
            default: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    /** @description In how many seconds to ask again. */
                    "Retry-After"?: number;
                    /** @description With 401: how to authenticate (RFC 6750). */
                    "WWW-Authenticate"?: string;
                    /** @description With 405: the methods that the path answers. */
                    Allow?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    deleteEnvironmentVariable: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The project. */
                projectId: string;
                /** @description The name of the variable. */
                key: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The variable is deleted. */
            200: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "key": "DATABASE_URL"
                     *     }
                     */
                    "application/json": components["schemas"]["EnvironmentVariableDeletion"];
                };
            };
            /** @description The path is wrong, or the key lacks the caller scope. */
            400: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The key is limited to other projects. */
            403: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The organization has no such project, or the project has no such variable. */
            404: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The project is archived: unarchive it first. */
            409: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The variable could not be deleted. */
            500: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description Any other error of the service: 401 without a valid API key, 405 for a wrong method, 413 for a body that is too large, 429 for too many requests (`Retry-After` says when to ask again). */
            default: {
                headers: {
                    /** @description Names this response in the logs of the service. */
                    "X-Request-Id"?: string;
                    /** @description `no-store`; beside an `ETag`, `private, no-cache`. */
                    "Cache-Control"?: string;
                    /** @description In how many seconds to ask again. */
                    "Retry-After"?: number;
                    /** @description With 401: how to authenticate (RFC 6750). */
                    "WWW-Authenticate"?: string;
                    /** @description With 405: the methods that the path answers. */
                    Allow?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}

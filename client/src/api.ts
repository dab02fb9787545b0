/** Generated from the OpenAPI document by `npm run openapi`. */

export interface paths {
    "/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve the caller
         * @description Returns the organization, the user and the permissions of the API key that sends the request.
         *
         *     Scope: none; any valid API key is accepted.
         */
        get: operations["retrieveMe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a session of the API key
         * @description Creates an API key of the kind `session` with the permissions of yours, for a person who works with it for a while. It ends with your API key, and after 12 hours at most. Each API key has at most 20 sessions: one more ends the oldest.
         *
         *     Scope: none; any valid API key is accepted.
         */
        post: operations["createApiKeySession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/api-key": {
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
         * Delete the API key of the caller
         * @description Revokes the API key that sends the request and its sessions, with effect from the next request. The keys that were created with it stay valid. A session and a rotated key can end themselves too.
         *
         *     Scope: none; any valid API key is accepted.
         */
        delete: operations["deleteOwnApiKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List API keys
         * @description Lists the API keys of the organization in order of creation. A key that acts as a user lists only the keys of that user. A key that is restricted to projects lists only keys that are restricted to these projects or to some of them. Sessions are listed with `kind=session` only. Tokens are never listed.
         *
         *     Scope: `api-keys:read`.
         */
        get: operations["listApiKeys"];
        put?: never;
        /**
         * Create an API key
         * @description Creates an API key that can do no more than yours: no further scope or project, no other user, and no later expiry. `userId`, `projectIds` and `expiresAt` default to those of your API key.
         *
         *     Scope: `api-keys:write`.
         */
        post: operations["createApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api-keys/{apiKeyId}": {
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
         * Delete an API key
         * @description Revokes an API key and its sessions, with effect from the next request. The keys that were created with it stay valid, unless `descendants` is true.
         *
         *     Scope: `api-keys:write`.
         */
        delete: operations["deleteApiKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/api-keys/{apiKeyId}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate an API key
         * @description Creates a successor with the same permissions and a new token. The rotated key stays valid for `overlapSeconds`, so that there is time to replace it. Its sessions end with it.
         *
         *     Scope: `api-keys:write`.
         */
        post: operations["rotateApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/audit-events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List audit events
         * @description Lists the changes in the organization and the API keys that made them, the latest first. Events are kept for 365 days and never contain the values of a request. With `operation`, `apiKeyId` or `userId`, a page examines up to 2,500 events: it may have few items or none, and still a `nextCursor`.
         *
         *     Scope: `audit-events:read`.
         */
        get: operations["listAuditEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List projects
         * @description Lists the projects of the organization, sorted by ID.
         *
         *     Scope: `projects:read`.
         */
        get: operations["listProjects"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve a project
         * @description Returns one project.
         *
         *     Scope: `projects:read`.
         */
        get: operations["retrieveProject"];
        /**
         * Put a project
         * @description Creates the project, or renames it. The ID of a deleted project cannot be used again.
         *
         *     Scope: `projects:write`.
         */
        put: operations["putProject"];
        post?: never;
        /**
         * Delete a project
         * @description Deletes the project with its sessions, pull requests, schedules, environment variables and pins. Its ID cannot be used again.
         *
         *     Scope: `projects:write`.
         */
        delete: operations["deleteProject"];
        options?: never;
        head?: never;
        /**
         * Archive or unarchive a project
         * @description Archives or unarchives the project. Everything that belongs to an archived project can be read but not changed.
         *
         *     Scope: `projects:write`.
         */
        patch: operations["updateProject"];
        trace?: never;
    };
    "/v1/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List agents
         * @description Lists the agents of the organization, sorted by ID.
         *
         *     Scope: `agents:read`.
         */
        get: operations["listAgents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve an agent
         * @description Returns one agent.
         *
         *     Scope: `agents:read`.
         */
        get: operations["retrieveAgent"];
        /**
         * Put an agent
         * @description Creates the agent, or renames it. The ID of a deleted agent cannot be used again.
         *
         *     Scope: `agents:write`.
         */
        put: operations["putAgent"];
        post?: never;
        /**
         * Delete an agent
         * @description Deletes the agent with its schedules and their runs. Its ID cannot be used again.
         *
         *     Scope: `agents:write`.
         */
        delete: operations["deleteAgent"];
        options?: never;
        head?: never;
        /**
         * Archive or unarchive an agent
         * @description Archives or unarchives the agent. Everything that belongs to an archived agent can be read but not changed.
         *
         *     Scope: `agents:write`.
         */
        patch: operations["updateAgent"];
        trace?: never;
    };
    "/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sessions
         * @description Lists the sessions of the organization, sorted by ID. An API key that is restricted to projects has to name one of its projects in `projectId`.
         *
         *     Scope: `sessions:read`.
         */
        get: operations["listSessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{sessionId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve a session
         * @description Returns one session.
         *
         *     Scope: `sessions:read`.
         */
        get: operations["retrieveSession"];
        /**
         * Put a session
         * @description Creates the session, or renames it. The ID of a deleted session cannot be used again.
         *
         *     Scope: `sessions:write`.
         */
        put: operations["putSession"];
        post?: never;
        /**
         * Delete a session
         * @description Deletes the session with its files and pins. Its ID cannot be used again.
         *
         *     Scope: `sessions:write`.
         */
        delete: operations["deleteSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pull-requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List pull requests
         * @description Lists the pull requests of the organization, sorted by ID. An API key that is restricted to projects has to name one of its projects in `projectId`.
         *
         *     Scope: `pull-requests:read`.
         */
        get: operations["listPullRequests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pull-requests/{pullRequestId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve a pull request
         * @description Returns one pull request.
         *
         *     Scope: `pull-requests:read`.
         */
        get: operations["retrievePullRequest"];
        /**
         * Put a pull request
         * @description Creates the pull request, or renames it. The ID of a deleted pull request cannot be used again.
         *
         *     Scope: `pull-requests:write`.
         */
        put: operations["putPullRequest"];
        post?: never;
        /**
         * Delete a pull request
         * @description Deletes the pull request with its pins. Its ID cannot be used again.
         *
         *     Scope: `pull-requests:write`.
         */
        delete: operations["deletePullRequest"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List users
         * @description Lists the users of the organization, sorted by ID.
         *
         *     Scope: `users:read`.
         */
        get: operations["listUsers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{userId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve a user
         * @description Returns one user.
         *
         *     Scope: `users:read`.
         */
        get: operations["retrieveUser"];
        /**
         * Put a user
         * @description Creates the user, or renames it. The ID of a deleted user cannot be used again.
         *
         *     Scope: `users:write`.
         */
        put: operations["putUser"];
        post?: never;
        /**
         * Delete a user
         * @description Deletes the user with its profile picture and pins, and revokes its API keys. Its ID cannot be used again.
         *
         *     Scope: `users:write`.
         */
        delete: operations["deleteUser"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List pins
         * @description Lists all pins of the user, in their order.
         *
         *     Scope: `pins:read`, with an API key that acts as a user.
         */
        get: operations["listPins"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/pins/{resourceType}/{resourceId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Put a pin
         * @description Pins a resource at the end of the list. If the resource is pinned already, its position does not change.
         *
         *     Scope: `pins:write`, with an API key that acts as a user.
         */
        put: operations["putPin"];
        post?: never;
        /**
         * Delete a pin
         * @description Unpins a resource.
         *
         *     Scope: `pins:write`, with an API key that acts as a user.
         */
        delete: operations["deletePin"];
        options?: never;
        head?: never;
        /**
         * Update a pin
         * @description Moves the pin of a resource directly before or after another pin of the user. If the resource is not pinned yet, it is pinned there. The order is one list across all types.
         *
         *     Scope: `pins:write`, with an API key that acts as a user.
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
        /**
         * List project schedules
         * @description Lists the schedules of the project, in the order of their IDs.
         *
         *     Scope: `schedules:read`.
         */
        get: operations["listProjectSchedules"];
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
    "/v1/projects/{projectId}/schedules/{scheduleId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve a project schedule
         * @description Returns one schedule with its statistics.
         *
         *     Scope: `schedules:read`.
         */
        get: operations["retrieveProjectSchedule"];
        /**
         * Create or replace a project schedule
         * @description Creates the schedule under an ID of your choice, or replaces its settings: fields that are left out get their defaults. The same body again changes nothing. A schedule that the service paused stays paused.
         *
         *     Scope: `schedules:write`.
         */
        put: operations["putProjectSchedule"];
        post?: never;
        /**
         * Delete a project schedule
         * @description Deletes the schedule and its runs. Pending runs are not sent.
         *
         *     Scope: `schedules:write`.
         */
        delete: operations["deleteProjectSchedule"];
        options?: never;
        head?: never;
        /**
         * Update a project schedule
         * @description Changes the settings of the schedule, pauses it or resumes it. Fields that are left out stay unchanged; null clears one that may be null. `cron` replaces `runAt`, and `runAt` replaces `cron`.
         *
         *     Scope: `schedules:write`.
         */
        patch: operations["updateProjectSchedule"];
        trace?: never;
    };
    "/v1/agents/{agentId}/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List agent schedules
         * @description Lists the schedules of the agent, in the order of their IDs.
         *
         *     Scope: `schedules:read`.
         */
        get: operations["listAgentSchedules"];
        put?: never;
        /**
         * Create an agent schedule
         * @description Creates a recurring schedule for an agent. Its cron expression is evaluated in UTC.
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
    "/v1/agents/{agentId}/schedules/{scheduleId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve an agent schedule
         * @description Returns one schedule with its statistics.
         *
         *     Scope: `schedules:read`.
         */
        get: operations["retrieveAgentSchedule"];
        /**
         * Create or replace an agent schedule
         * @description Creates the schedule under an ID of your choice, or replaces its settings: fields that are left out get their defaults. The same body again changes nothing. A schedule that the service paused stays paused.
         *
         *     Scope: `schedules:write`.
         */
        put: operations["putAgentSchedule"];
        post?: never;
        /**
         * Delete an agent schedule
         * @description Deletes the schedule and its runs. Pending runs are not sent.
         *
         *     Scope: `schedules:write`.
         */
        delete: operations["deleteAgentSchedule"];
        options?: never;
        head?: never;
        /**
         * Update an agent schedule
         * @description Changes the settings of the schedule, pauses it or resumes it. Fields that are left out stay unchanged; null clears one that may be null. `cron` replaces `runAt`, and `runAt` replaces `cron`.
         *
         *     Scope: `schedules:write`.
         */
        patch: operations["updateAgentSchedule"];
        trace?: never;
    };
    "/v1/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List schedules
         * @description Lists the schedules of all projects and agents, without their payloads. With a filter, a page examines up to 2,500 schedules: it may have few items or none, and still a `nextCursor`.
         *
         *     Scope: `schedules:read`.
         */
        get: operations["listSchedules"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/schedule-preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Preview a schedule
         * @description Returns the next times at which a cron expression fires, in UTC and in the time zone.
         *
         *     Scope: none; any valid API key is accepted.
         */
        get: operations["previewSchedule"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectId}/schedules/{scheduleId}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the runs of a project schedule
         * @description Lists the runs of the schedule, latest first. Runs are kept for 90 days.
         *
         *     Scope: `runs:read`.
         */
        get: operations["listProjectScheduleRuns"];
        put?: never;
        /**
         * Run a project schedule now
         * @description Creates a run now, even if the schedule is paused. With the overlap `skip`, the run is `skipped` if the run before is pending or active. The request has no body.
         *
         *     Scope: `runs:write`.
         */
        post: operations["createProjectScheduleRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agentId}/schedules/{scheduleId}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the runs of an agent schedule
         * @description Lists the runs of the schedule, latest first. Runs are kept for 90 days.
         *
         *     Scope: `runs:read`.
         */
        get: operations["listAgentScheduleRuns"];
        put?: never;
        /**
         * Run an agent schedule now
         * @description Creates a run now, even if the schedule is paused. With the overlap `skip`, the run is `skipped` if the run before is pending or active. The request has no body.
         *
         *     Scope: `runs:write`.
         */
        post: operations["createAgentScheduleRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List runs
         * @description Lists the runs of all schedules, latest first; with `status=pending`, oldest first. With `projectId`, a `status` other than `pending`, or `scheduleId` and a `status`, a page examines up to 2,500 runs: it may have few items or none, and still a `nextCursor`.
         *
         *     Scope: `runs:read`.
         */
        get: operations["listRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/claim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Claim runs
         * @description Takes the oldest pending runs. No other claim gets them until `leaseExpiresAt`. Renew a claim before it ends, and complete the run with its `claimId`. Runs that are on their way to a run endpoint cannot be claimed.
         *
         *     Scope: `runs:write`.
         */
        post: operations["claimRuns"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{runId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve a run
         * @description Returns one run.
         *
         *     Scope: `runs:read`.
         */
        get: operations["retrieveRun"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{runId}/acknowledge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Acknowledge a run
         * @description Marks a pending run as `delivered`, so that it is neither sent nor claimed. Safe to repeat. The request has no body.
         *
         *     Scope: `runs:write`.
         */
        post: operations["acknowledgeRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{runId}/renew": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renew the claim of a run
         * @description Extends the claim to `leaseSeconds` from now.
         *
         *     Scope: `runs:write`.
         */
        post: operations["renewRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{runId}/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Complete a run
         * @description Records the outcome of a run within its `maxRunSeconds`. Safe to repeat: the first outcome stands.
         *
         *     Scope: `runs:write`.
         */
        post: operations["completeRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/run-endpoint": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve the run endpoint
         * @description Returns the run endpoint, without its secret.
         *
         *     Scope: `run-endpoint:read`.
         */
        get: operations["retrieveRunEndpoint"];
        /**
         * Set the run endpoint
         * @description Sets the URL that receives each run that is created from now on, as a POST signed according to Standard Webhooks. Runs that were created before stay pending. If the organization already has a run endpoint, its URL changes, also for runs that are not delivered yet, and its secret stays the same.
         *
         *     Scope: `run-endpoint:write`.
         */
        put: operations["putRunEndpoint"];
        post?: never;
        /**
         * Delete the run endpoint
         * @description Deletes the run endpoint and its secret. Pending runs can still be pulled, but are not sent to a run endpoint that is set later.
         *
         *     Scope: `run-endpoint:write`.
         */
        delete: operations["deleteRunEndpoint"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/run-endpoint/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Rotate the secret of the run endpoint
         * @description Creates a new secret. Deliveries are signed with both secrets until the previous one expires, so that the receiver has time to change to the new one.
         *
         *     Scope: `run-endpoint:write`.
         */
        post: operations["rotateRunEndpoint"];
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
         * @description Lists the files of a session in order of creation, without their contents. Pass `nextCursor` as `cursor` to get the next page.
         *
         *     Scope: `session-files:read`.
         */
        get: operations["listSessionFiles"];
        /**
         * Put a session file
         * @description Stores the body, and its `Content-Type`, as the file at a path. If a file exists at the path, it keeps its ID and gets the new content.
         *
         *     Scope: `session-files:write`.
         */
        put: operations["putSessionFile"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{sessionId}/files/{fileId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve a session file
         * @description Returns what is known of a file, without its content.
         *
         *     Scope: `session-files:read`.
         */
        get: operations["retrieveSessionFile"];
        put?: never;
        post?: never;
        /**
         * Delete a session file
         * @description Deletes a file and its content.
         *
         *     Scope: `session-files:write`.
         */
        delete: operations["deleteSessionFile"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{sessionId}/files/{fileId}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve the content of a session file
         * @description Returns the bytes of a file as they were stored, or one range of them.
         *
         *     Scope: `session-files:read`.
         */
        get: operations["retrieveSessionFileContent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/skills": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List skills
         * @description Lists the skills of the organization in order of creation, without their files.
         *
         *     Scope: `skills:read`.
         */
        get: operations["listSkills"];
        put?: never;
        /**
         * Create a skill
         * @description Creates a skill with its files, as version 1. The front matter of `SKILL.md` has the name and the description, as the Agent Skills specification requires.
         *
         *     Scope: `skills:write`.
         */
        post: operations["createSkill"];
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
         * @description Returns a skill of the organization with all of its files.
         *
         *     Scope: `skills:read`.
         */
        get: operations["retrieveSkill"];
        put?: never;
        post?: never;
        /**
         * Delete a skill
         * @description Deletes a skill with all of its versions.
         *
         *     Scope: `skills:write`.
         */
        delete: operations["deleteSkill"];
        options?: never;
        head?: never;
        /**
         * Update a skill
         * @description Makes a new version of a skill, which becomes the current one, from all of its files. A file whose filename stays the same keeps its ID. If nothing differs from the current version, no version is made.
         *
         *     Scope: `skills:write`.
         */
        patch: operations["updateSkill"];
        trace?: never;
    };
    "/v1/skills/{skillId}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the versions of a skill
         * @description Lists the versions of a skill without their files, the latest first. A skill keeps up to 100 versions (`SKILL_VERSION_LIMIT`): a new one removes the oldest that is neither current nor named by a feed.
         *
         *     Scope: `skills:read`.
         */
        get: operations["listSkillVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/skills/{skillId}/versions/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve a version of a skill
         * @description Returns a version of a skill with all of its files. A version never changes.
         *
         *     Scope: `skills:read`.
         */
        get: operations["retrieveSkillVersion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/skills/{skillId}/publish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Publish a version of a skill
         * @description Makes a version the current one, for example an earlier one. The skill gets its name, description and files.
         *
         *     Scope: `skills:write`.
         */
        post: operations["publishSkillVersion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/skills/{skillId}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Retrieve the archive of a skill
         * @description Returns the files of a version as a `.tar.gz` with their executable bits. The archive of a version never changes, and its SHA-256 is the `digest` of the version.
         *
         *     Scope: `skills:read`.
         */
        get: operations["retrieveSkillArchive"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/skill-feeds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the feeds of skills
         * @description Lists the feeds of the organization in order of creation, also those that have ended, without their addresses.
         *
         *     Scope: `skill-feeds:read`.
         */
        get: operations["listSkillFeeds"];
        put?: never;
        /**
         * Create a feed of skills
         * @description Creates an address from which installers of skills, such as `npx skills add`, install without an API key. Anyone who has the address can read the skills, so `skill-feeds:write` is enough to publish every skill of the organization, without `skills:read`. The feed ends when it is deleted, when it expires, or when the API key that made it is revoked or expires. Rotating that key keeps the feed.
         *
         *     Scope: `skill-feeds:write`.
         */
        post: operations["createSkillFeed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/skill-feeds/{feedId}": {
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
         * Delete a feed of skills
         * @description Deletes a feed. Its address answers 404 from then on; what was installed stays installed.
         *
         *     Scope: `skill-feeds:write`.
         */
        delete: operations["deleteSkillFeed"];
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
        /**
         * Retrieve a profile picture
         * @description Returns the profile picture of any user of the organization.
         *
         *     Scope: `profile-picture:read`.
         */
        get: operations["retrieveProfilePicture"];
        /**
         * Put a profile picture
         * @description Stores the body as the profile picture of the user that the API key acts as, in place of the current one.
         *
         *     Scope: `profile-picture:write`, with an API key that acts as a user.
         */
        put: operations["putProfilePicture"];
        post?: never;
        /**
         * Delete a profile picture
         * @description Deletes the profile picture of the user that the API key acts as. Succeeds if there is none.
         *
         *     Scope: `profile-picture:write`, with an API key that acts as a user.
         */
        delete: operations["deleteProfilePicture"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{projectId}/environment-variables": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List project environment variables
         * @description Lists the variables of the project, sorted by name, with the times of their creation and last change. Values are never returned.
         *
         *     Scope: `environment-variables:read`.
         */
        get: operations["listEnvironmentVariables"];
        put?: never;
        /**
         * Set project environment variables
         * @description Stores up to 100 variables encrypted: all of them or none. Existing variables get the new values. Other variables do not change.
         *
         *     Scope: `environment-variables:write`.
         */
        post: operations["setEnvironmentVariables"];
        delete?: never;
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
        /**
         * Put a project environment variable
         * @description Stores one variable encrypted. An existing variable gets the new value.
         *
         *     Scope: `environment-variables:write`.
         */
        put: operations["putEnvironmentVariable"];
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
    "/v1/projects/{projectId}/environment-variables/lease": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Lease project environment variables
         * @description Returns the values of variables, sealed to the caller's public key by HPKE (RFC 9180). The API key has to be restricted to projects. Each lease is an audit event with the names.
         *
         *     Scope: `environment-variables:lease`.
         */
        post: operations["leaseEnvironmentVariables"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface webhooks {
    scheduleRun: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A schedule is due
         * @description Sent to the run endpoint at least once for each run, signed as the Standard Webhooks specification requires. Verify the signature with one of its libraries and the secret of the run endpoint.
         */
        post: operations["scheduleRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /**
         * @example {
         *       "name": "console",
         *       "expiresInSeconds": 3600
         *     }
         */
        NewApiKeySession: {
            /** @description The display name; by default that of your API key. */
            name?: string;
            /** @description How long the session lasts. The default is 12 hours, or the rest of the time of your API key if that is shorter. */
            expiresInSeconds?: number;
        };
        /**
         * @example {
         *       "name": "laptop",
         *       "scopes": [
         *         "pins:read",
         *         "pins:write"
         *       ]
         *     }
         */
        NewApiKey: {
            /** @description The display name. */
            name: string;
            /** @description What the key may do. Two scopes allow more than their names say: with `skill-feeds:write`, a key publishes any skill, without `skills:read`; with `users:write`, a key that acts as no user and has no restriction to projects deletes any user, with all keys of the user. */
            scopes: ("pins:write" | "schedules:write" | "session-files:read" | "skills:read" | "profile-picture:write" | "environment-variables:write" | "pins:read" | "schedules:read" | "session-files:write" | "skills:write" | "profile-picture:read" | "environment-variables:read" | "projects:read" | "projects:write" | "agents:read" | "agents:write" | "sessions:read" | "sessions:write" | "pull-requests:read" | "pull-requests:write" | "users:read" | "users:write" | "api-keys:read" | "api-keys:write" | "runs:read" | "runs:write" | "run-endpoint:read" | "run-endpoint:write" | "audit-events:read" | "skill-feeds:read" | "skill-feeds:write" | "environment-variables:lease")[];
            /** @description The user that the key acts as; null if it acts as none. */
            userId?: string | null;
            /** @description The projects that the key is restricted to; null if it is not restricted. */
            projectIds?: string[] | null;
            /** @description When the key expires, in any form of RFC 3339; null if it never expires. */
            expiresAt?: string | null;
        };
        /**
         * @example {
         *       "overlapSeconds": 3600
         *     }
         */
        ApiKeyRotation: {
            /**
             * @description How many seconds the rotated key stays valid. With 0, a key that rotates itself loses access if the response is lost.
             * @default 86400
             */
            overlapSeconds: number;
        };
        /**
         * @example {
         *       "name": "Website"
         *     }
         */
        NewProject: {
            /** @description The display name. */
            name: string;
        };
        /**
         * @example {
         *       "archived": true
         *     }
         */
        ProjectUpdate: {
            archived: boolean;
        };
        /**
         * @example {
         *       "name": "Reviewer"
         *     }
         */
        NewAgent: {
            /** @description The display name. */
            name: string;
        };
        /**
         * @example {
         *       "archived": true
         *     }
         */
        AgentUpdate: {
            archived: boolean;
        };
        /**
         * @example {
         *       "projectId": "website",
         *       "name": "Rebuild the checkout"
         *     }
         */
        NewSession: {
            /**
             * @description The project that it belongs to.
             * @example website
             */
            projectId: string;
            /** @description The display name. */
            name: string;
        };
        /**
         * @example {
         *       "projectId": "website",
         *       "name": "Accept Apple Pay"
         *     }
         */
        NewPullRequest: {
            /**
             * @description The project that it belongs to.
             * @example website
             */
            projectId: string;
            /** @description The display name. */
            name: string;
        };
        /**
         * @example {
         *       "name": "Ada Lovelace"
         *     }
         */
        NewUser: {
            /** @description The display name. */
            name: string;
        };
        /**
         * @example {
         *       "placement": {
         *         "target": {
         *           "type": "pull_request",
         *           "id": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e903"
         *         },
         *         "position": "after"
         *       }
         *     }
         */
        PinPlacement: {
            placement: {
                target: {
                    /**
                     * @description The type of the resource of the target pin.
                     * @enum {string}
                     */
                    type: "session" | "pull_request" | "project";
                    /**
                     * Format: uuid
                     * @description The ID of the resource of the target pin.
                     */
                    id: string;
                };
                /**
                 * @description Whether the pin goes before or after the target.
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
             * @description Five fields: minute, hour, day of month, month, day of week. They may have numbers, names, lists, ranges and steps. Also allowed: @hourly @daily @midnight @weekly @monthly @yearly @annually.
             * @example 30 9 * * mon-fri
             */
            cron: string;
            /**
             * @description An IANA time zone name. `EST`, `MST` and `HST` are such names, and never change to summer time.
             * @example Europe/Paris
             */
            timezone: string;
        };
        /**
         * @example {
         *       "name": "Nightly build",
         *       "cron": "30 9 * * mon-fri",
         *       "timezone": "Europe/Paris",
         *       "payload": {
         *         "branch": "main"
         *       },
         *       "overlap": "skip",
         *       "maxRunSeconds": 3600,
         *       "pauseAfterFailures": 3
         *     }
         */
        ProjectScheduleSettings: {
            /**
             * @description Five fields: minute, hour, day of month, month, day of week. They may have numbers, names, lists, ranges and steps. Also allowed: @hourly @daily @midnight @weekly @monthly @yearly @annually.
             * @example 30 9 * * mon-fri
             */
            cron?: string;
            /**
             * @description The time zone of the cron expression, an IANA name.
             * @example Europe/Paris
             */
            timezone?: string;
            name?: string | null;
            /**
             * Format: date-time
             * @description Instead of `cron`: the schedule fires once, at this time.
             * @example 2026-03-30T07:30:00.000Z
             */
            runAt?: string;
            /** @description Any JSON of up to 16 KiB, delivered with every run. */
            payload?: unknown;
            /**
             * @description `skip`, which requires `maxRunSeconds`: a time at which the run before is pending or active is recorded as skipped. Default: `allow`.
             * @enum {string}
             */
            overlap?: "allow" | "skip";
            /** @description An active run without an outcome after this time has failed. */
            maxRunSeconds?: number | null;
            /** @description The service pauses the schedule after so many failed runs in a row. */
            pauseAfterFailures?: number | null;
            note?: string | null;
            /** @description False pauses the schedule. Default: true. */
            enabled?: boolean;
        };
        /**
         * @example {
         *       "enabled": false
         *     }
         */
        ProjectScheduleUpdate: {
            /**
             * @description Five fields: minute, hour, day of month, month, day of week. They may have numbers, names, lists, ranges and steps. Also allowed: @hourly @daily @midnight @weekly @monthly @yearly @annually.
             * @example 30 9 * * mon-fri
             */
            cron?: string;
            /**
             * @description The time zone of the cron expression, an IANA name.
             * @example Europe/Paris
             */
            timezone?: string;
            name?: string | null;
            /**
             * Format: date-time
             * @description Instead of `cron`: the schedule fires once, at this time.
             * @example 2026-03-30T07:30:00.000Z
             */
            runAt?: string;
            /** @description Any JSON of up to 16 KiB, delivered with every run. */
            payload?: unknown;
            /**
             * @description `skip`, which requires `maxRunSeconds`: a time at which the run before is pending or active is recorded as skipped. Default: `allow`.
             * @enum {string}
             */
            overlap?: "allow" | "skip";
            /** @description An active run without an outcome after this time has failed. */
            maxRunSeconds?: number | null;
            /** @description The service pauses the schedule after so many failed runs in a row. */
            pauseAfterFailures?: number | null;
            note?: string | null;
            /** @description False pauses the schedule; true resumes it from now on. */
            enabled?: boolean;
        };
        /**
         * @example {
         *       "cron": "0 6 * * *"
         *     }
         */
        NewAgentSchedule: {
            /**
             * @description Five fields: minute, hour, day of month, month, day of week. They may have numbers, names, lists, ranges and steps. Also allowed: @hourly @daily @midnight @weekly @monthly @yearly @annually.
             * @example 30 9 * * mon-fri
             */
            cron: string;
        };
        /**
         * @example {
         *       "name": "Morning review",
         *       "cron": "0 6 * * *",
         *       "payload": {
         *         "prompt": "Review open pull requests."
         *       }
         *     }
         */
        AgentScheduleSettings: {
            /**
             * @description Five fields: minute, hour, day of month, month, day of week. They may have numbers, names, lists, ranges and steps. Also allowed: @hourly @daily @midnight @weekly @monthly @yearly @annually.
             * @example 30 9 * * mon-fri
             */
            cron?: string;
            name?: string | null;
            /**
             * Format: date-time
             * @description Instead of `cron`: the schedule fires once, at this time.
             * @example 2026-03-30T07:30:00.000Z
             */
            runAt?: string;
            /** @description Any JSON of up to 16 KiB, delivered with every run. */
            payload?: unknown;
            /**
             * @description `skip`, which requires `maxRunSeconds`: a time at which the run before is pending or active is recorded as skipped. Default: `allow`.
             * @enum {string}
             */
            overlap?: "allow" | "skip";
            /** @description An active run without an outcome after this time has failed. */
            maxRunSeconds?: number | null;
            /** @description The service pauses the schedule after so many failed runs in a row. */
            pauseAfterFailures?: number | null;
            note?: string | null;
            /** @description False pauses the schedule. Default: true. */
            enabled?: boolean;
        };
        /**
         * @example {
         *       "enabled": false
         *     }
         */
        AgentScheduleUpdate: {
            /**
             * @description Five fields: minute, hour, day of month, month, day of week. They may have numbers, names, lists, ranges and steps. Also allowed: @hourly @daily @midnight @weekly @monthly @yearly @annually.
             * @example 30 9 * * mon-fri
             */
            cron?: string;
            name?: string | null;
            /**
             * Format: date-time
             * @description Instead of `cron`: the schedule fires once, at this time.
             * @example 2026-03-30T07:30:00.000Z
             */
            runAt?: string;
            /** @description Any JSON of up to 16 KiB, delivered with every run. */
            payload?: unknown;
            /**
             * @description `skip`, which requires `maxRunSeconds`: a time at which the run before is pending or active is recorded as skipped. Default: `allow`.
             * @enum {string}
             */
            overlap?: "allow" | "skip";
            /** @description An active run without an outcome after this time has failed. */
            maxRunSeconds?: number | null;
            /** @description The service pauses the schedule after so many failed runs in a row. */
            pauseAfterFailures?: number | null;
            note?: string | null;
            /** @description False pauses the schedule; true resumes it from now on. */
            enabled?: boolean;
        };
        /**
         * @example {
         *       "limit": 1,
         *       "leaseSeconds": 300
         *     }
         */
        RunClaimRequest: {
            /**
             * @description How many runs to take at most.
             * @default 1
             */
            limit: number;
            /** @description How long the claim lasts. A run whose claim has ended is pending again, up to a minute later. */
            leaseSeconds: number;
            /**
             * @description The runs of this project. Required for an API key that is restricted to projects.
             * @example website
             */
            projectId?: string;
        };
        /**
         * @example {
         *       "claimId": "7a0c6f1e-4b3d-4c55-9f0e-2d8b1c7e5a90",
         *       "leaseSeconds": 300
         *     }
         */
        RunRenewal: {
            /**
             * Format: uuid
             * @description The claim.
             * @example 7a0c6f1e-4b3d-4c55-9f0e-2d8b1c7e5a90
             */
            claimId: string;
            /** @description How long the claim lasts. A run whose claim has ended is pending again, up to a minute later. */
            leaseSeconds: number;
        };
        /**
         * @example {
         *       "outcome": "succeeded",
         *       "message": "Built 14 pages.",
         *       "sessionId": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902"
         *     }
         */
        RunCompletion: {
            /** @enum {string} */
            outcome: "succeeded" | "failed";
            /** @description What happened, for people. */
            message?: string;
            /**
             * Format: uuid
             * @description The session in which the work was done.
             * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902
             */
            sessionId?: string;
            /**
             * Format: uuid
             * @description The claim of the run; required if the run is claimed.
             */
            claimId?: string;
        };
        RunEndpointUpdate: {
            /**
             * @description An https URL of a public host, without credentials. Redirects are not followed.
             * @example https://hooks.example.com/runs
             */
            url: string;
        };
        /**
         * @example {
         *       "overlapSeconds": 3600
         *     }
         */
        RunEndpointRotation: {
            /**
             * @description How many seconds the previous secret stays valid. With 0, all earlier secrets expire at once.
             * @default 86400
             */
            overlapSeconds: number;
        };
        /**
         * @example {
         *       "files": [
         *         {
         *           "filename": "SKILL.md",
         *           "content": "---\nname: commit-messages\ndescription: Writes commit messages from staged changes.\n---\n\n1. List the changes.\n2. Write one line for each, for the people who read it.\n"
         *         }
         *       ]
         *     }
         */
        NewSkill: {
            /**
             * @description Unique in the organization. It is read from SKILL.md if it is left out, and has to be the same there.
             * @example release-notes
             */
            name?: string;
            /** @description What the skill does, and when to use it. It is read from SKILL.md if it is left out, and has to be the same there. */
            description?: string;
            /** @description All files of the skill. One is SKILL.md. */
            files: components["schemas"]["NewSkillFile"][];
            /** @description What changed, for the list of versions. */
            message?: string;
        };
        NewSkillFile: {
            /**
             * @description The path of the file, relative to the folder of the skill. No segment may be `.git`.
             * @example SKILL.md
             */
            filename: string;
            /** @description Text, or base64 if `encoding` says so; up to 1 MiB when decoded. */
            content: string;
            /**
             * @description `base64` for a file that is not text, that contains NUL, or that begins with `data:application/octet-stream;base64,`. `utf-8` if it is left out.
             * @enum {string}
             */
            encoding?: "utf-8" | "base64";
            /** @description Whether the file is executable. False if it is left out. */
            executable?: boolean;
        };
        /**
         * @example {
         *       "files": [
         *         {
         *           "filename": "SKILL.md",
         *           "content": "---\nname: release-notes\ndescription: Writes release notes from merged pull requests.\n---\n\n1. List the changes.\n2. Write one line for each, for the people who read it.\n"
         *         }
         *       ],
         *       "message": "List breaking changes first."
         *     }
         */
        NewSkillVersion: {
            /**
             * @description Unique in the organization. It is read from SKILL.md if it is left out, and has to be the same there.
             * @example release-notes
             */
            name?: string;
            /** @description What the skill does, and when to use it. It is read from SKILL.md if it is left out, and has to be the same there. */
            description?: string;
            /** @description All files of the skill. One is SKILL.md. */
            files: components["schemas"]["NewSkillFile"][];
            /** @description What changed, for the list of versions. */
            message?: string;
        };
        /**
         * @example {
         *       "version": 1
         *     }
         */
        SkillPublication: {
            version: number;
        };
        /**
         * @example {
         *       "name": "Laptops of the team",
         *       "skills": [
         *         {
         *           "skillId": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c71"
         *         }
         *       ]
         *     }
         */
        NewSkillFeed: {
            /** @description What the feed is for. */
            name: string;
            /** @description The skills of the feed. With `version`, the feed stays at this version; without, it follows the current one. All skills of the organization if it is left out. */
            skills?: components["schemas"]["NewSkillFeedEntry"][];
            /** @description When the feed ends, in any form of RFC 3339; null if it does not. */
            expiresAt?: string | null;
        };
        NewSkillFeedEntry: {
            /**
             * Format: uuid
             * @description The skill.
             */
            skillId: string;
            version?: number;
        };
        /**
         * @example {
         *       "variables": [
         *         {
         *           "key": "DATABASE_URL",
         *           "value": "postgres://app@db.internal/shop"
         *         }
         *       ]
         *     }
         */
        EnvironmentVariableValues: {
            variables: {
                /**
                 * @description The name of the variable.
                 * @example DATABASE_URL
                 */
                key: string;
                /**
                 * @description Up to 64 KiB in UTF-8. It is stored encrypted, and no operation returns it in the clear.
                 * @example postgres://app@db.internal/shop
                 */
                value: string;
            }[];
        };
        /**
         * @example {
         *       "value": "postgres://app@db.internal/shop"
         *     }
         */
        EnvironmentVariableValue: {
            /**
             * @description Up to 64 KiB in UTF-8. It is stored encrypted, and no operation returns it in the clear.
             * @example postgres://app@db.internal/shop
             */
            value: string;
        };
        /**
         * @example {
         *       "publicKey": "85fK1n5XY8EJE2hjyYDgPnuVh7GjLrOFVGPyJ1Cv8BE"
         *     }
         */
        EnvironmentVariableLeaseRequest: {
            /**
             * @description The 32 bytes of an X25519 public key in base64url, without padding. Make a new key pair for each lease.
             * @example 85fK1n5XY8EJE2hjyYDgPnuVh7GjLrOFVGPyJ1Cv8BE
             */
            publicKey: string;
            /** @description Without it, all variables of the project. */
            keys?: string[];
        };
        /**
         * @example {
         *       "type": "schedule.run",
         *       "timestamp": "2026-03-30T07:30:00.000Z",
         *       "data": {
         *         "id": "019d3da6-44c0-8af1-a829-4c5f72adcc57",
         *         "scheduleId": "0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81",
         *         "name": "Nightly build",
         *         "projectId": "website",
         *         "agentId": null,
         *         "cron": "30 9 * * mon-fri",
         *         "runAt": null,
         *         "timezone": "Europe/Paris",
         *         "scheduledAt": "2026-03-30T07:30:00.000Z",
         *         "payload": {
         *           "branch": "main"
         *         },
         *         "attempt": 1,
         *         "previous": null
         *       }
         *     }
         */
        ScheduleRunMessage: {
            /** @constant */
            type: "schedule.run";
            /** Format: date-time */
            timestamp: string;
            data: components["schemas"]["RunWork"];
        };
        RunWork: {
            /**
             * Format: uuid
             * @description The ID of the run. It is the same for every attempt, so that a receiver can recognize a repeated delivery.
             */
            id: string;
            /** Format: uuid */
            scheduleId: string;
            /** @description The name of the schedule. */
            name: string | null;
            /** @description The project of the schedule; null for the schedule of an agent. */
            projectId: string | null;
            /** @description The agent of the schedule; null for the schedule of a project. */
            agentId: string | null;
            cron: string | null;
            runAt: string | null;
            timezone: string;
            /** Format: date-time */
            scheduledAt: string;
            /** @description The payload of the schedule; null if it has none. */
            payload: unknown;
            /** @description How many times the run was sent or claimed, including this time. */
            attempt: number;
            /** @description The run before of the same schedule that was not skipped, if it is among the 100 runs before. */
            previous: {
                /** Format: uuid */
                id: string;
                /** Format: date-time */
                scheduledAt: string;
                /** @enum {string} */
                status: "pending" | "delivered" | "succeeded" | "failed";
                /** @description Why the run failed. `delivery`: all delivery attempts failed. `task`: its outcome is `failed`. `timeout`: it had no outcome in time. */
                failure: ("delivery" | "task" | "timeout") | null;
                /** @description The message that came with the outcome. */
                message: string | null;
                /** @description The session in which the work was done, if the outcome named it. */
                sessionId: string | null;
            } | null;
        };
        /**
         * @example {
         *       "error": "placement.position is not one of the allowed values; got \"beside\"; allowed: \"before\" or \"after\"."
         *     }
         */
        Error: {
            /** @description What is wrong and what to change. */
            error: string;
        };
        Me: {
            organization: {
                /** Format: uuid */
                id: string;
                name: string;
            };
            /** @description The user that the key acts as; null if it acts as none. */
            user: {
                id: string;
                name: string;
            } | null;
            apiKey: {
                /** Format: uuid */
                id: string;
                name: string;
                /** @enum {string} */
                kind: "key" | "session";
                scopes: string[];
                /** @description The projects that the key is restricted to; null if it is not restricted. */
                projectIds: string[] | null;
                /** @description When the key expires; null if it never expires. */
                expiresAt: string | null;
            };
        };
        ApiKeyWithToken: {
            /** Format: uuid */
            id: string;
            name: string;
            /**
             * @description A session was created by `POST /v1/me/sessions`; any other is a key.
             * @enum {string}
             */
            kind: "key" | "session";
            scopes: string[];
            /** @description The user that the key acts as; null if it acts as none. */
            userId: string | null;
            /** @description The projects that the key is restricted to; null if it is not restricted. */
            projectIds: string[] | null;
            /** @description When the key expires; null if it never expires. */
            expiresAt: string | null;
            /** @description When the key was rotated; null if it was not. */
            rotatedAt: string | null;
            /** @description The last use, to the hour; null before the first. */
            lastUsedAt: string | null;
            /** Format: date-time */
            createdAt: string;
            /** @description The token to send as `Authorization: Bearer`. No other response contains it. */
            token: string;
        };
        ApiKeyDeletion: {
            /** @constant */
            deleted: true;
            /** Format: uuid */
            id: string;
            /** @description How many other keys the request revoked: sessions of the key and, if requested, its descendants. */
            descendants: number;
        };
        ApiKeyPage: {
            items: components["schemas"]["ApiKey"][];
            /** @description The `cursor` of the next page; null on the last page. */
            nextCursor: string | null;
        };
        ApiKey: {
            /** Format: uuid */
            id: string;
            name: string;
            /**
             * @description A session was created by `POST /v1/me/sessions`; any other is a key.
             * @enum {string}
             */
            kind: "key" | "session";
            scopes: string[];
            /** @description The user that the key acts as; null if it acts as none. */
            userId: string | null;
            /** @description The projects that the key is restricted to; null if it is not restricted. */
            projectIds: string[] | null;
            /** @description When the key expires; null if it never expires. */
            expiresAt: string | null;
            /** @description When the key was rotated; null if it was not. */
            rotatedAt: string | null;
            /** @description The last use, to the hour; null before the first. */
            lastUsedAt: string | null;
            /** Format: date-time */
            createdAt: string;
        };
        AuditEventPage: {
            items: components["schemas"]["AuditEvent"][];
            /** @description The `cursor` of the next page; null on the last page. */
            nextCursor: string | null;
        };
        AuditEvent: {
            /** Format: uuid */
            id: string;
            /** @description The `operationId` of the change or lease. */
            operation: string;
            /** @description The path of the changed resource; of a lease, with the names. */
            target: string;
            /**
             * Format: uuid
             * @description The API key that made the change.
             */
            apiKeyId: string;
            /** @description The name of the API key at that time. */
            apiKeyName: string;
            /** @description The user that the API key acts as; null if it acts as none. */
            userId: string | null;
            /**
             * Format: uuid
             * @description The `X-Request-Id` of the response.
             */
            requestId: string;
            /** Format: date-time */
            createdAt: string;
        };
        ProjectPage: {
            items: components["schemas"]["Project"][];
            /** @description The `cursor` of the next page; null on the last page. */
            nextCursor: string | null;
        };
        Project: {
            /**
             * @description The project.
             * @example website
             */
            id: string;
            name: string;
            /** @description When the project was archived; null if it is not archived. */
            archivedAt: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        ProjectDeletion: {
            /** @constant */
            deleted: true;
            id: string;
        };
        AgentPage: {
            items: components["schemas"]["Agent"][];
            /** @description The `cursor` of the next page; null on the last page. */
            nextCursor: string | null;
        };
        Agent: {
            /**
             * Format: uuid
             * @description The agent.
             * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901
             */
            id: string;
            name: string;
            /** @description When the agent was archived; null if it is not archived. */
            archivedAt: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        AgentDeletion: {
            /** @constant */
            deleted: true;
            id: string;
        };
        SessionPage: {
            items: components["schemas"]["Session"][];
            /** @description The `cursor` of the next page; null on the last page. */
            nextCursor: string | null;
        };
        Session: {
            /**
             * Format: uuid
             * @description The session.
             * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902
             */
            id: string;
            projectId: string;
            name: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        SessionDeletion: {
            /** @constant */
            deleted: true;
            id: string;
        };
        PullRequestPage: {
            items: components["schemas"]["PullRequest"][];
            /** @description The `cursor` of the next page; null on the last page. */
            nextCursor: string | null;
        };
        PullRequest: {
            /**
             * Format: uuid
             * @description The pull request.
             * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e903
             */
            id: string;
            projectId: string;
            name: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        PullRequestDeletion: {
            /** @constant */
            deleted: true;
            id: string;
        };
        UserPage: {
            items: components["schemas"]["User"][];
            /** @description The `cursor` of the next page; null on the last page. */
            nextCursor: string | null;
        };
        User: {
            /**
             * @description The user.
             * @example ada
             */
            id: string;
            name: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        UserDeletion: {
            /** @constant */
            deleted: true;
            id: string;
        };
        PinPage: {
            items: (components["schemas"]["Pin"] | components["schemas"]["PinWithResource"])[];
            nextCursor: null;
        };
        Pin: {
            /**
             * @description The type of the pinned resource.
             * @enum {string}
             */
            resourceType: "session" | "pull_request" | "project";
            /** Format: uuid */
            resourceId: string;
            /** Format: date-time */
            createdAt: string;
        };
        PinWithResource: {
            /**
             * @description The type of the pinned resource.
             * @enum {string}
             */
            resourceType: "session" | "pull_request" | "project";
            /** Format: uuid */
            resourceId: string;
            /** Format: date-time */
            createdAt: string;
            resource: components["schemas"]["PinnedResource"];
        };
        PinnedResource: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @description The project of the session or pull request; null for a project. */
            projectId: string | null;
            /** @description When the project was archived; null if it is not, and for a session or pull request. */
            archivedAt: string | null;
        };
        PinUpdate: {
            /** @description False if the pin was already at this position. */
            updated: boolean;
        };
        PinDeletion: {
            /** @constant */
            deleted: true;
            /**
             * @description The type of the resource.
             * @enum {string}
             */
            resourceType: "session" | "pull_request" | "project";
            /** Format: uuid */
            resourceId: string;
        };
        ProjectSchedule: {
            /** Format: uuid */
            id: string;
            projectId: string;
            cron: string;
            timezone: string;
            /** @description The time since which the schedule is enabled; null while it is paused. */
            enabledAt: string | null;
            /** @description The `scheduledAt` of the latest run that was not skipped; null before the first. */
            lastRunAt: string | null;
            /** @description When the schedule fires next; null while it is paused. */
            nextRunAt: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        ProjectSchedulePage: {
            items: components["schemas"]["ProjectScheduleState"][];
            /** @description The `cursor` of the next page; null on the last page. */
            nextCursor: string | null;
        };
        ProjectScheduleState: {
            /** Format: uuid */
            id: string;
            projectId: string;
            /** @description The cron expression; null if the schedule fires once, at `runAt`. */
            cron: string | null;
            timezone: string;
            /** @description The time since which the schedule is enabled; null while it is paused. */
            enabledAt: string | null;
            /** @description The `scheduledAt` of the latest run that was not skipped; null before the first. */
            lastRunAt: string | null;
            /** @description When the schedule fires next; null while it is paused, or if it fires once and has fired. */
            nextRunAt: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            name: string | null;
            /** @description The only time at which the schedule fires; null if it has a cron expression. */
            runAt: string | null;
            /** @description The JSON that is delivered with every run. */
            payload: unknown;
            /** @enum {string} */
            overlap: "allow" | "skip";
            maxRunSeconds: number | null;
            /** @description Null: the default, 20 failed runs in a row. */
            pauseAfterFailures: number | null;
            note: string | null;
            /** @description Why the service paused the schedule; null if it did not. A PATCH with `enabled: true` clears it. */
            pausedReason: string | null;
        };
        ProjectScheduleDetails: {
            /** Format: uuid */
            id: string;
            projectId: string;
            /** @description The cron expression; null if the schedule fires once, at `runAt`. */
            cron: string | null;
            timezone: string;
            /** @description The time since which the schedule is enabled; null while it is paused. */
            enabledAt: string | null;
            /** @description The `scheduledAt` of the latest run that was not skipped; null before the first. */
            lastRunAt: string | null;
            /** @description When the schedule fires next; null while it is paused, or if it fires once and has fired. */
            nextRunAt: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            name: string | null;
            /** @description The only time at which the schedule fires; null if it has a cron expression. */
            runAt: string | null;
            /** @description The JSON that is delivered with every run. */
            payload: unknown;
            /** @enum {string} */
            overlap: "allow" | "skip";
            maxRunSeconds: number | null;
            /** @description Null: the default, 20 failed runs in a row. */
            pauseAfterFailures: number | null;
            note: string | null;
            /** @description Why the service paused the schedule; null if it did not. A PATCH with `enabled: true` clears it. */
            pausedReason: string | null;
            statistics: components["schemas"]["ScheduleStatistics"];
        };
        ScheduleStatistics: {
            /**
             * Format: date-time
             * @description The runs from this time on are counted: those of the last 30 days, at most 2,500.
             */
            since: string;
            /** @description The number of runs that were not skipped. */
            runs: number;
            succeeded: number;
            failed: number;
            /** @description The median time from `startedAt` to an outcome; null without an outcome. */
            medianSeconds: number | null;
        };
        ProjectScheduleDeletion: {
            /** @constant */
            deleted: true;
            /** Format: uuid */
            id: string;
        };
        AgentSchedule: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            agentId: string;
            cron: string;
            /** @description The time since which the schedule is enabled; null while it is paused. */
            enabledAt: string | null;
            /** @description The `scheduledAt` of the latest run that was not skipped; null before the first. */
            lastRunAt: string | null;
            /** @description When the schedule fires next; null while it is paused. */
            nextRunAt: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        AgentSchedulePage: {
            items: components["schemas"]["AgentScheduleState"][];
            /** @description The `cursor` of the next page; null on the last page. */
            nextCursor: string | null;
        };
        AgentScheduleState: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            agentId: string;
            /** @description The cron expression; null if the schedule fires once, at `runAt`. */
            cron: string | null;
            /** @description The time since which the schedule is enabled; null while it is paused. */
            enabledAt: string | null;
            /** @description The `scheduledAt` of the latest run that was not skipped; null before the first. */
            lastRunAt: string | null;
            /** @description When the schedule fires next; null while it is paused, or if it fires once and has fired. */
            nextRunAt: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            name: string | null;
            /** @description The only time at which the schedule fires; null if it has a cron expression. */
            runAt: string | null;
            /** @description The JSON that is delivered with every run. */
            payload: unknown;
            /** @enum {string} */
            overlap: "allow" | "skip";
            maxRunSeconds: number | null;
            /** @description Null: the default, 20 failed runs in a row. */
            pauseAfterFailures: number | null;
            note: string | null;
            /** @description Why the service paused the schedule; null if it did not. A PATCH with `enabled: true` clears it. */
            pausedReason: string | null;
        };
        AgentScheduleDetails: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            agentId: string;
            /** @description The cron expression; null if the schedule fires once, at `runAt`. */
            cron: string | null;
            /** @description The time since which the schedule is enabled; null while it is paused. */
            enabledAt: string | null;
            /** @description The `scheduledAt` of the latest run that was not skipped; null before the first. */
            lastRunAt: string | null;
            /** @description When the schedule fires next; null while it is paused, or if it fires once and has fired. */
            nextRunAt: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            name: string | null;
            /** @description The only time at which the schedule fires; null if it has a cron expression. */
            runAt: string | null;
            /** @description The JSON that is delivered with every run. */
            payload: unknown;
            /** @enum {string} */
            overlap: "allow" | "skip";
            maxRunSeconds: number | null;
            /** @description Null: the default, 20 failed runs in a row. */
            pauseAfterFailures: number | null;
            note: string | null;
            /** @description Why the service paused the schedule; null if it did not. A PATCH with `enabled: true` clears it. */
            pausedReason: string | null;
            statistics: components["schemas"]["ScheduleStatistics"];
        };
        AgentScheduleDeletion: {
            /** @constant */
            deleted: true;
            /** Format: uuid */
            id: string;
        };
        SchedulePage: {
            items: components["schemas"]["ScheduleSummary"][];
            /** @description The `cursor` of the next page; null on the last page. */
            nextCursor: string | null;
        };
        ScheduleSummary: {
            /** Format: uuid */
            id: string;
            projectId: string | null;
            agentId: string | null;
            name: string | null;
            /** @description The cron expression; null if the schedule fires once, at `runAt`. */
            cron: string | null;
            /** @description The only time at which the schedule fires; null if it has a cron expression. */
            runAt: string | null;
            timezone: string;
            /** @description The time since which the schedule is enabled; null while it is paused. */
            enabledAt: string | null;
            /** @description Why the service paused the schedule; null if it did not. A PATCH with `enabled: true` clears it. */
            pausedReason: string | null;
            /** @description When the schedule fires next; null while it is paused. */
            nextRunAt: string | null;
            /** @description The `scheduledAt` of the latest run that was not skipped; null before the first. */
            lastRunAt: string | null;
            /** @description The outcome of the latest run that has one; null if none of the latest ten runs has. */
            lastOutcome: ("succeeded" | "failed") | null;
        };
        SchedulePreview: {
            items: {
                /** Format: date-time */
                at: string;
                /** @description The local time in the time zone, with its UTC offset. */
                localTime: string;
            }[];
        };
        Run: {
            /**
             * Format: uuid
             * @description The ID is the same for every delivery of the run. IDs sort by `scheduledAt`.
             */
            id: string;
            /** Format: uuid */
            scheduleId: string;
            /** @description The project of the schedule; null for the schedule of an agent. */
            projectId: string | null;
            /** @description The agent of the schedule; null for the schedule of a project. */
            agentId: string | null;
            /**
             * Format: date-time
             * @description When the run was due; for a run that was created by a request, the time of the request.
             */
            scheduledAt: string;
            /**
             * @description `pending`: to be sent or claimed. `delivered`: taken by the run endpoint or a worker, and without an outcome. `succeeded`, `failed`: finished. `skipped`: missed, due while the project or agent was archived, or due while the previous run was unfinished (overlap `skip`).
             * @enum {string}
             */
            status: "pending" | "delivered" | "succeeded" | "failed" | "skipped";
            /** @description Why the run failed. `delivery`: all delivery attempts failed. `task`: its outcome is `failed`. `timeout`: it had no outcome in time. */
            failure: ("delivery" | "task" | "timeout") | null;
            /** @description How many times the run was sent or claimed. */
            attempts: number;
            /** @description The error of the last delivery attempt, or why the run timed out or was skipped. */
            lastError: string | null;
            /** @description When the run was taken. */
            startedAt: string | null;
            /** @description When the run succeeded or failed. */
            finishedAt: string | null;
            /** @description The message that came with the outcome. */
            message: string | null;
            /** @description The session in which the work was done, if the outcome named it. */
            sessionId: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        RunPage: {
            items: components["schemas"]["Run"][];
            /** @description The `cursor` of the next page; null on the last page. */
            nextCursor: string | null;
        };
        ClaimedRuns: {
            items: components["schemas"]["ClaimedRun"][];
        };
        ClaimedRun: {
            /**
             * Format: uuid
             * @description The ID of the run. It is the same for every attempt, so that a receiver can recognize a repeated delivery.
             */
            id: string;
            /** Format: uuid */
            scheduleId: string;
            /** @description The name of the schedule. */
            name: string | null;
            /** @description The project of the schedule; null for the schedule of an agent. */
            projectId: string | null;
            /** @description The agent of the schedule; null for the schedule of a project. */
            agentId: string | null;
            cron: string | null;
            runAt: string | null;
            timezone: string;
            /** Format: date-time */
            scheduledAt: string;
            /** @description The payload of the schedule; null if it has none. */
            payload: unknown;
            /** @description How many times the run was sent or claimed, including this time. */
            attempt: number;
            /** @description The run before of the same schedule that was not skipped, if it is among the 100 runs before. */
            previous: {
                /** Format: uuid */
                id: string;
                /** Format: date-time */
                scheduledAt: string;
                /** @enum {string} */
                status: "pending" | "delivered" | "succeeded" | "failed";
                /** @description Why the run failed. `delivery`: all delivery attempts failed. `task`: its outcome is `failed`. `timeout`: it had no outcome in time. */
                failure: ("delivery" | "task" | "timeout") | null;
                /** @description The message that came with the outcome. */
                message: string | null;
                /** @description The session in which the work was done, if the outcome named it. */
                sessionId: string | null;
            } | null;
            /**
             * Format: uuid
             * @description Renews the claim, and completes the run.
             */
            claimId: string;
            /**
             * Format: date-time
             * @description When the claim ends. With `maxRunSeconds`, it never lasts longer than the run may.
             */
            leaseExpiresAt: string;
        };
        RunClaim: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * @description The claim.
             * @example 7a0c6f1e-4b3d-4c55-9f0e-2d8b1c7e5a90
             */
            claimId: string;
            /**
             * Format: date-time
             * @description When the claim ends. With `maxRunSeconds`, it never lasts longer than the run may.
             */
            leaseExpiresAt: string;
        };
        RunEndpointWithSecret: {
            url: string;
            /** @description Until when deliveries are also signed with the previous secret; null if there is none. */
            previousSecretExpiresAt: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description The secret that signs deliveries; null if the run endpoint is not new. */
            secret: string | null;
        };
        RunEndpoint: {
            url: string;
            /** @description Until when deliveries are also signed with the previous secret; null if there is none. */
            previousSecretExpiresAt: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        RunEndpointDeletion: {
            /** @constant */
            deleted: true;
        };
        RotatedRunEndpoint: {
            url: string;
            /** @description Until when deliveries are also signed with the previous secret; null if there is none. */
            previousSecretExpiresAt: string | null;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            secret: string;
        };
        SessionFileDetails: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            sessionId: string;
            path: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description The size of the content. */
            sizeBytes: number;
            /** @description The `Content-Type` of the upload; `application/octet-stream` if it had none. */
            contentType: string;
            /** @description The SHA-256 of the content, in lower-case hexadecimal. */
            sha256: string;
        };
        SessionFilePage: {
            items: components["schemas"]["SessionFile"][];
            /** @description The `cursor` of the next page; null on the last page. */
            nextCursor: string | null;
        };
        SessionFile: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            sessionId: string;
            path: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        SessionFileDeletion: {
            /** @constant */
            deleted: true;
            /** Format: uuid */
            id: string;
        };
        Skill: {
            /** Format: uuid */
            id: string;
            name: string;
            description: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
            /** @description All files of the skill, sorted by filename. */
            files: components["schemas"]["SkillFile"][];
        };
        SkillFile: {
            /** Format: uuid */
            id: string;
            filename: string;
            /** @description The text of the file, exactly as stored. A file that is not text is a `data:application/octet-stream;base64,…` URL. */
            content: string;
        };
        SkillPage: {
            items: components["schemas"]["SkillSummary"][];
            /** @description The `cursor` of the next page; null on the last page. */
            nextCursor: string | null;
        };
        SkillSummary: {
            /** Format: uuid */
            id: string;
            name: string;
            description: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        SkillDeletion: {
            /** @constant */
            deleted: true;
            /** Format: uuid */
            id: string;
        };
        SkillVersionPage: {
            items: components["schemas"]["SkillVersionSummary"][];
            /** @description The `cursor` of the next page; null on the last page. */
            nextCursor: string | null;
        };
        SkillVersionSummary: {
            /** @description From 1, without gaps when it is made. */
            version: number;
            name: string;
            description: string;
            /** @description The SHA-256 of the archive of the version: `sha256:` and 64 hexadecimal digits. */
            digest: string;
            /** @description Whether the skill has the files of this version. */
            isCurrent: boolean;
            /** @description What changed; null if nothing was said. */
            message: string | null;
            /**
             * Format: uuid
             * @description The API key that made the version.
             */
            apiKeyId: string;
            /** @description The user that the API key acts as; null if it acts as none. */
            userId: string | null;
            /** Format: date-time */
            createdAt: string;
        };
        SkillVersion: {
            /** @description From 1, without gaps when it is made. */
            version: number;
            name: string;
            description: string;
            /** @description The SHA-256 of the archive of the version: `sha256:` and 64 hexadecimal digits. */
            digest: string;
            /** @description Whether the skill has the files of this version. */
            isCurrent: boolean;
            /** @description What changed; null if nothing was said. */
            message: string | null;
            /**
             * Format: uuid
             * @description The API key that made the version.
             */
            apiKeyId: string;
            /** @description The user that the API key acts as; null if it acts as none. */
            userId: string | null;
            /** Format: date-time */
            createdAt: string;
            /** @description All files of the version, sorted by filename. */
            files: components["schemas"]["SkillVersionFile"][];
        };
        SkillVersionFile: {
            filename: string;
            content: string;
            /**
             * @description Of `content`: `utf-8` for text, otherwise `base64`.
             * @enum {string}
             */
            encoding: "utf-8" | "base64";
            executable: boolean;
            sizeBytes: number;
            /** @description Of the bytes, in lower-case hexadecimal. */
            sha256: string;
        };
        SkillFeedWithUrl: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @description The skills of the feed, each with its version, or null for the current one; null: all skills. */
            skills: components["schemas"]["SkillFeedEntry"][] | null;
            /** @description When the feed ends; null if it does not. */
            expiresAt: string | null;
            /**
             * Format: uuid
             * @description The API key that the feed ends with: the one that made it, or its successor.
             */
            apiKeyId: string;
            /** Format: date-time */
            createdAt: string;
            /** @description The address to install from. It contains the secret token, and no other response has it. */
            url: string;
        };
        SkillFeedEntry: {
            /** Format: uuid */
            skillId: string;
            version: number | null;
        };
        SkillFeedPage: {
            items: components["schemas"]["SkillFeed"][];
            /** @description The `cursor` of the next page; null on the last page. */
            nextCursor: string | null;
        };
        SkillFeed: {
            /** Format: uuid */
            id: string;
            name: string;
            /** @description The skills of the feed, each with its version, or null for the current one; null: all skills. */
            skills: components["schemas"]["SkillFeedEntry"][] | null;
            /** @description When the feed ends; null if it does not. */
            expiresAt: string | null;
            /**
             * Format: uuid
             * @description The API key that the feed ends with: the one that made it, or its successor.
             */
            apiKeyId: string;
            /** Format: date-time */
            createdAt: string;
        };
        SkillFeedDeletion: {
            /** @constant */
            deleted: true;
            /** Format: uuid */
            id: string;
        };
        ProfilePicture: {
            userId: string;
            /** @enum {string} */
            contentType: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
            /** Format: date-time */
            updatedAt: string;
        };
        ProfilePictureDeletion: {
            userId: string;
            /** @constant */
            deleted: true;
        };
        EnvironmentVariables: {
            items: components["schemas"]["EnvironmentVariable"][];
        };
        EnvironmentVariable: {
            key: string;
            /** Format: date-time */
            createdAt: string;
            /** Format: date-time */
            updatedAt: string;
        };
        EnvironmentVariablePage: {
            items: components["schemas"]["EnvironmentVariable"][];
            /** @description The `cursor` of the next page; null on the last page. */
            nextCursor: string | null;
        };
        EnvironmentVariableDeletion: {
            /** @constant */
            deleted: true;
            key: string;
        };
        EnvironmentVariableLease: {
            /** Format: uuid */
            organizationId: string;
            projectId: string;
            /** @description In order. */
            keys: string[];
            /** @description HPKE's encapsulated key in base64url. */
            enc: string;
            /** @description The JSON object of the values by name, sealed, in base64url. */
            ciphertext: string;
        };
        /**
         * @example {
         *       "outcome": "succeeded",
         *       "message": "Built 14 pages."
         *     }
         */
        RunOutcome: {
            /** @enum {string} */
            outcome: "succeeded" | "failed";
            message?: string | null;
            sessionId?: string | null;
        };
    };
    responses: {
        /** @description Other errors of the service: 401 without a valid API key, 405 for a method that the path does not support, 413 for a body over the size limit, 429 for too many requests (retry after the time in `Retry-After`), 431 for headers over 16 KiB. `Error-Code`: `api_key_missing`, `api_key_invalid`, `api_key_expired`, `api_key_revoked`, `method_not_allowed`, `body_too_large`, `rate_limited`, `headers_too_large`. */
        ServiceError: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                "Retry-After": components["headers"]["Retry-After"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                Allow: components["headers"]["Allow"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The input is invalid, or the API key lacks the required scope. `Error-Code`: `invalid_input`, `missing_scope`. */
        InvalidInputOrMissingScope: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The API key is restricted to other projects. `Error-Code`: `project_forbidden`. */
        ProjectForbidden: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The organization has no project with this projectId. `Error-Code`: `project_not_found`. */
        ProjectNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The organization has no agent with this agentId. `Error-Code`: `agent_not_found`. */
        AgentNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The organization has no session with this sessionId. `Error-Code`: `session_not_found`. */
        SessionNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The session was deleted, with its files. `Error-Code`: `session_deleted`. */
        SessionDeleted: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Internal error. `Error-Code`: `internal_error`. */
        InternalError: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description A store is temporarily unavailable. Retry after the time in `Retry-After`; retry a POST only with the same `Idempotency-Key`. `Error-Code`: `unavailable`. */
        Unavailable: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The organization has no skill with this skillId. `Error-Code`: `skill_not_found`. */
        SkillNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The input is invalid, or the API key lacks the required scope. `Error-Code`: `invalid_input`, `missing_scope`, `user_required`. */
        InvalidInputOrMissingScopeOrUserRequired: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The API key acts as another user. `Error-Code`: `other_user`. */
        OtherUser: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The organization has no user with this userId. `Error-Code`: `user_not_found`. */
        UserNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The project is archived. `Error-Code`: `project_archived`. */
        ProjectArchived: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The input is invalid, or the API key lacks the required scope. `Error-Code`: `invalid_input`. */
        InvalidInput: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The API key is missing, malformed, unknown, revoked or expired. `Error-Code`: `api_key_missing`, `api_key_invalid`, `api_key_expired`, `api_key_revoked`. */
        Unauthorized: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description Too many requests. Retry after the time in `Retry-After`. `Error-Code`: `rate_limited`. */
        RateLimited: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                "Retry-After": components["headers"]["Retry-After"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The API key is restricted to projects. `Error-Code`: `unrestricted_key_required`. */
        UnrestrictedKeyRequired: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The project was deleted. `Error-Code`: `project_deleted`. */
        ProjectDeleted: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The resource has none of the ETags in `If-Match`, or it exists already and `If-None-Match` is `*`. `Error-Code`: `etag_mismatch`, `already_exists`. */
        EtagMismatchOrAlreadyExists: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The resource has none of the ETags in `If-Match`. `Error-Code`: `etag_mismatch`. */
        EtagMismatch: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The agent was deleted. `Error-Code`: `agent_deleted`. */
        AgentDeleted: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The API key is restricted to other projects. `Error-Code`: `unrestricted_key_required`, `project_forbidden`. */
        UnrestrictedKeyRequiredOrProjectForbidden: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The pull request was deleted. `Error-Code`: `pull_request_deleted`. */
        PullRequestDeleted: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The organization has no pull request with this pullRequestId. `Error-Code`: `pull_request_not_found`. */
        PullRequestNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The user was deleted. `Error-Code`: `user_deleted`. */
        UserDeleted: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The organization has no such project, or the project has no such schedule. `Error-Code`: `project_not_found`, `schedule_not_found`. */
        ProjectNotFoundOrScheduleNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The schedule was deleted. `Error-Code`: `schedule_deleted`. */
        ScheduleDeleted: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The organization has no such agent, or the agent has no such schedule. `Error-Code`: `agent_not_found`, `schedule_not_found`. */
        AgentNotFoundOrScheduleNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The agent is archived. `Error-Code`: `agent_archived`. */
        AgentArchived: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The organization has no such run, or its schedule was deleted. `Error-Code`: `run_not_found`. */
        RunNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The organization has no run endpoint. `Error-Code`: `run_endpoint_not_found`. */
        RunEndpointNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The organization has no session with this sessionId, or the session has no file with this fileId. `Error-Code`: `session_not_found`, `session_file_not_found`. */
        SessionNotFoundOrSessionFileNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description The organization has no skill with this skillId, or the skill has no such version. `Error-Code`: `skill_not_found`, `skill_version_not_found`. */
        SkillNotFoundOrSkillVersionNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Error-Code": components["headers"]["Error-Code"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: {
        /**
         * @description The API key.
         * @example 0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c73
         */
        apiKeyId: string;
        /** @description Makes the request safe to repeat: a request with the same key and an equal body changes nothing and returns what the first one created, as it is now. With another body, it gets 409. */
        "Idempotency-Key": string;
        /** @description The maximum number of items on the page, at least 1. A number above 1000 counts as 1000. */
        limit: string;
        /** @description The `nextCursor` of the previous page. */
        cursor: string;
        /**
         * @description The project.
         * @example website
         */
        projectId: string;
        /** @description The ETag of the copy that you edited. If the resource has another one by now, the response is 412 and nothing changes. `*`: the resource has to exist. */
        "If-Match": string;
        /** @description ETags of the copies you hold. If one matches, the response is 304. */
        "If-None-Match": string;
        /**
         * @description The agent.
         * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901
         */
        agentId: string;
        /**
         * @description The session.
         * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902
         */
        sessionId: string;
        /**
         * @description The pull request.
         * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e903
         */
        pullRequestId: string;
        /**
         * @description The user.
         * @example ada
         */
        userId: string;
        /**
         * @description The type of the pinned resource.
         * @example session
         */
        resourceType: "session" | "pull_request" | "project";
        /**
         * @description The ID of the pinned resource.
         * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902
         */
        resourceId: string;
        /**
         * @description The schedule.
         * @example 0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81
         */
        scheduleId: string;
        /**
         * @description The run.
         * @example 019d3da6-44c0-8af1-a829-4c5f72adcc57
         */
        runId: string;
        /**
         * @description The file.
         * @example 0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70
         */
        fileId: string;
        /**
         * @description The skill.
         * @example 0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c71
         */
        skillId: string;
        /**
         * @description The name of the variable.
         * @example DATABASE_URL
         */
        key: string;
    };
    requestBodies: never;
    headers: {
        /** @description The ID of the request in the log of the service. */
        "X-Request-Id": string;
        /** @description Why the request failed, for programs. Codes never change their meaning. */
        "Error-Code": string;
        /** @description The number of seconds to wait before a retry. */
        "Retry-After": number;
        /** @description The rate limit that was exceeded (`draft-ietf-httpapi-ratelimit-headers-11`). */
        "RateLimit-Policy": string;
        /** @description What is left of this limit, and in how many seconds it is renewed. */
        RateLimit: string;
        /** @description With 401: the authentication scheme (RFC 6750). */
        "WWW-Authenticate": string;
        /** @description With 405: the methods that the path supports. */
        Allow: string;
        /** @description The entity tag of the resource, for `If-Match`. It changes with every edit by a request. */
        ETag: string;
        /** @description The path of what was created. */
        Location: string;
        /** @description `bytes` */
        "Accept-Ranges": string;
        /** @description `attachment`: browsers save the content and do not show it. */
        "Content-Disposition": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    retrieveMe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The organization, user and API key of the caller. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "organization": {
                     *         "id": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e900",
                     *         "name": "Acme"
                     *       },
                     *       "user": {
                     *         "id": "ada",
                     *         "name": "Ada Lovelace"
                     *       },
                     *       "apiKey": {
                     *         "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c73",
                     *         "name": "laptop",
                     *         "kind": "key",
                     *         "scopes": [
                     *           "pins:read",
                     *           "pins:write"
                     *         ],
                     *         "projectIds": null,
                     *         "expiresAt": null
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Me"];
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    createApiKeySession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["NewApiKeySession"];
            };
        };
        responses: {
            /** @description The session was created. Only this response contains its token. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /** @description The path of the session. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c73",
                     *       "name": "console",
                     *       "kind": "session",
                     *       "scopes": [
                     *         "pins:read",
                     *         "pins:write"
                     *       ],
                     *       "userId": "ada",
                     *       "projectIds": null,
                     *       "expiresAt": "2026-03-29T13:00:00.000Z",
                     *       "rotatedAt": null,
                     *       "lastUsedAt": null,
                     *       "createdAt": "2026-03-29T01:00:00.000Z",
                     *       "token": "wsk_…"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiKeyWithToken"];
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            /** @description Your API key is a session, was rotated, or ends before the session would. `Error-Code`: `api_key_is_session`, `api_key_rotated`, `exceeds_own_key`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    deleteOwnApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The API key is revoked. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c73",
                     *       "descendants": 0
                     *     }
                     */
                    "application/json": components["schemas"]["ApiKeyDeletion"];
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    listApiKeys: {
        parameters: {
            query?: {
                /**
                 * @description Which API keys are listed: keys, or sessions.
                 * @example session
                 */
                kind?: "key" | "session";
                /** @description The maximum number of items on the page, at least 1. A number above 1000 counts as 1000. */
                limit?: components["parameters"]["limit"];
                /** @description The `nextCursor` of the previous page. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of API keys. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c73",
                     *           "name": "laptop",
                     *           "kind": "key",
                     *           "scopes": [
                     *             "pins:read",
                     *             "pins:write"
                     *           ],
                     *           "userId": "ada",
                     *           "projectIds": null,
                     *           "expiresAt": null,
                     *           "rotatedAt": null,
                     *           "lastUsedAt": null,
                     *           "createdAt": "2026-03-29T01:00:00.000Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["ApiKeyPage"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Prevents a repeated request from creating a second API key: the response is 409 and names the first key. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewApiKey"];
            };
        };
        responses: {
            /** @description The API key was created. Only this response contains its token. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /** @description The path of the API key. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c73",
                     *       "name": "laptop",
                     *       "kind": "key",
                     *       "scopes": [
                     *         "pins:read",
                     *         "pins:write"
                     *       ],
                     *       "userId": "ada",
                     *       "projectIds": null,
                     *       "expiresAt": null,
                     *       "rotatedAt": null,
                     *       "lastUsedAt": null,
                     *       "createdAt": "2026-03-29T01:00:00.000Z",
                     *       "token": "wsk_…"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiKeyWithToken"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            /** @description The new key would have a scope, user, project or expiry that yours does not allow. Or your API key was rotated: it can only delete itself, without its descendants. `Error-Code`: `api_key_rotated`, `exceeds_own_key`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The organization has no user with this userId, or no project with one of these projectIds. `Error-Code`: `user_not_found`, `project_not_found`. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description An API key was already created with this `Idempotency-Key`, or the organization has the maximum number of API keys. `Error-Code`: `quota_exceeded`, `token_already_returned`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    deleteApiKey: {
        parameters: {
            query?: {
                /**
                 * @description If true, also revokes the keys that were created with the key, the keys created with those, and so on. The successor of a key counts as created with the key that sent the rotation. With true, the key itself may already be revoked.
                 * @example true
                 */
                descendants?: "true" | "false";
            };
            header?: never;
            path: {
                /**
                 * @description The API key.
                 * @example 0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c73
                 */
                apiKeyId: components["parameters"]["apiKeyId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The API key is revoked. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c73",
                     *       "descendants": 2
                     *     }
                     */
                    "application/json": components["schemas"]["ApiKeyDeletion"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            /** @description The API key belongs to another user, or may use projects that yours may not. Or your API key was rotated: it can only delete itself, without its descendants. `Error-Code`: `api_key_forbidden`, `api_key_rotated`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The organization has no API key with this apiKeyId, or it is revoked and `descendants` is not true. `Error-Code`: `api_key_not_found`. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    rotateApiKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description Prevents a repeated request from creating a second API key: the response is 409 and names the first key. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The API key.
                 * @example 0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c73
                 */
                apiKeyId: components["parameters"]["apiKeyId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ApiKeyRotation"];
            };
        };
        responses: {
            /** @description The successor. Only this response contains its token. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /** @description The path of the successor. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c73",
                     *       "name": "laptop",
                     *       "kind": "key",
                     *       "scopes": [
                     *         "pins:read",
                     *         "pins:write"
                     *       ],
                     *       "userId": "ada",
                     *       "projectIds": null,
                     *       "expiresAt": null,
                     *       "rotatedAt": null,
                     *       "lastUsedAt": null,
                     *       "createdAt": "2026-03-29T01:00:00.000Z",
                     *       "token": "wsk_…"
                     *     }
                     */
                    "application/json": components["schemas"]["ApiKeyWithToken"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            /** @description The API key belongs to another user, or may use projects that yours may not. Or your API key was rotated: it can only delete itself, without its descendants. Or the key to rotate has a scope that yours lacks, expires later, or is a session. `Error-Code`: `api_key_forbidden`, `api_key_is_session`, `api_key_rotated`, `exceeds_own_key`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The organization has no API key with this apiKeyId. `Error-Code`: `api_key_not_found`. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The API key has expired or was rotated, or an API key was already created with this `Idempotency-Key`. `Error-Code`: `api_key_already_expired`, `api_key_already_rotated`, `token_already_returned`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    listAuditEvents: {
        parameters: {
            query?: {
                /** @description Only the events at or after this time. */
                since?: string;
                /** @description Only the events before this time. */
                until?: string;
                /**
                 * @description Only the changes by this operation: its `operationId`.
                 * @example deleteEnvironmentVariable
                 */
                operation?: string;
                /** @description Only the changes that this API key made. */
                apiKeyId?: string;
                /**
                 * @description Only the changes by API keys that act as this user.
                 * @example ada
                 */
                userId?: string;
                /** @description The maximum number of items on the page, at least 1. A number above 1000 counts as 1000. */
                limit?: components["parameters"]["limit"];
                /** @description The `nextCursor` of the previous page. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of audit events. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019d2ff5-7f31-7c02-9d5b-40d6a0e2c8b1",
                     *           "operation": "deleteEnvironmentVariable",
                     *           "target": "/v1/projects/website/environment-variables/DATABASE_URL",
                     *           "apiKeyId": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c73",
                     *           "apiKeyName": "laptop",
                     *           "userId": "ada",
                     *           "requestId": "3f0e8a9c-52d7-4f7e-8a44-7d1b6c2e9f05",
                     *           "createdAt": "2026-03-27T14:30:01.457Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["AuditEventPage"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UnrestrictedKeyRequired"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    listProjects: {
        parameters: {
            query?: {
                /** @description The maximum number of items on the page, at least 1. A number above 1000 counts as 1000. */
                limit?: components["parameters"]["limit"];
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of projects. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "website",
                     *           "name": "Website",
                     *           "archivedAt": null,
                     *           "createdAt": "2026-03-02T09:15:00.000Z",
                     *           "updatedAt": "2026-03-02T09:15:00.000Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["ProjectPage"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    retrieveProject: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags of the copies you hold. If one matches, the response is 304. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                /**
                 * @description The project.
                 * @example website
                 */
                projectId: components["parameters"]["projectId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The project. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "website",
                     *       "name": "Website",
                     *       "archivedAt": null,
                     *       "createdAt": "2026-03-02T09:15:00.000Z",
                     *       "updatedAt": "2026-03-02T09:15:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Project"];
                };
            };
            /** @description Not modified. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            404: components["responses"]["ProjectNotFound"];
            410: components["responses"]["ProjectDeleted"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    putProject: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the copy that you edited. If the resource has another one by now, the response is 412 and nothing changes. `*`: the resource has to exist. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description `*`: only create. If the resource exists already, the response is 412 and nothing changes. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The project.
                 * @example website
                 */
                projectId: components["parameters"]["projectId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewProject"];
            };
        };
        responses: {
            /** @description The project. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "website",
                     *       "name": "Website",
                     *       "archivedAt": null,
                     *       "createdAt": "2026-03-02T09:15:00.000Z",
                     *       "updatedAt": "2026-03-02T09:15:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Project"];
                };
            };
            /** @description The project was created. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "website",
                     *       "name": "Website",
                     *       "archivedAt": null,
                     *       "createdAt": "2026-03-02T09:15:00.000Z",
                     *       "updatedAt": "2026-03-02T09:15:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Project"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            /** @description The organization has the maximum number of projects. `Error-Code`: `quota_exceeded`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            410: components["responses"]["ProjectDeleted"];
            412: components["responses"]["EtagMismatchOrAlreadyExists"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    deleteProject: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the copy that you edited. If the resource has another one by now, the response is 412 and nothing changes. `*`: the resource has to exist. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                /**
                 * @description The project.
                 * @example website
                 */
                projectId: components["parameters"]["projectId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The project is deleted. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "id": "website"
                     *     }
                     */
                    "application/json": components["schemas"]["ProjectDeletion"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            404: components["responses"]["ProjectNotFound"];
            410: components["responses"]["ProjectDeleted"];
            412: components["responses"]["EtagMismatch"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    updateProject: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the copy that you edited. If the resource has another one by now, the response is 412 and nothing changes. `*`: the resource has to exist. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                /**
                 * @description The project.
                 * @example website
                 */
                projectId: components["parameters"]["projectId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectUpdate"];
            };
        };
        responses: {
            /** @description The project. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "website",
                     *       "name": "Website",
                     *       "archivedAt": null,
                     *       "createdAt": "2026-03-02T09:15:00.000Z",
                     *       "updatedAt": "2026-03-02T09:15:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Project"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            404: components["responses"]["ProjectNotFound"];
            410: components["responses"]["ProjectDeleted"];
            412: components["responses"]["EtagMismatch"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    listAgents: {
        parameters: {
            query?: {
                /** @description The maximum number of items on the page, at least 1. A number above 1000 counts as 1000. */
                limit?: components["parameters"]["limit"];
                /** @description The `nextCursor` of the previous page. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of agents. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901",
                     *           "name": "Reviewer",
                     *           "archivedAt": null,
                     *           "createdAt": "2026-03-02T09:15:00.000Z",
                     *           "updatedAt": "2026-03-02T09:15:00.000Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["AgentPage"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    retrieveAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags of the copies you hold. If one matches, the response is 304. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                /**
                 * @description The agent.
                 * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901
                 */
                agentId: components["parameters"]["agentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The agent. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901",
                     *       "name": "Reviewer",
                     *       "archivedAt": null,
                     *       "createdAt": "2026-03-02T09:15:00.000Z",
                     *       "updatedAt": "2026-03-02T09:15:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Agent"];
                };
            };
            /** @description Not modified. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            410: components["responses"]["AgentDeleted"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    putAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the copy that you edited. If the resource has another one by now, the response is 412 and nothing changes. `*`: the resource has to exist. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description `*`: only create. If the resource exists already, the response is 412 and nothing changes. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The agent.
                 * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901
                 */
                agentId: components["parameters"]["agentId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAgent"];
            };
        };
        responses: {
            /** @description The agent. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901",
                     *       "name": "Reviewer",
                     *       "archivedAt": null,
                     *       "createdAt": "2026-03-02T09:15:00.000Z",
                     *       "updatedAt": "2026-03-02T09:15:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Agent"];
                };
            };
            /** @description The agent was created. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901",
                     *       "name": "Reviewer",
                     *       "archivedAt": null,
                     *       "createdAt": "2026-03-02T09:15:00.000Z",
                     *       "updatedAt": "2026-03-02T09:15:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Agent"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UnrestrictedKeyRequired"];
            /** @description The organization has the maximum number of agents. `Error-Code`: `quota_exceeded`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            410: components["responses"]["AgentDeleted"];
            412: components["responses"]["EtagMismatchOrAlreadyExists"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    deleteAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the copy that you edited. If the resource has another one by now, the response is 412 and nothing changes. `*`: the resource has to exist. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                /**
                 * @description The agent.
                 * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901
                 */
                agentId: components["parameters"]["agentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The agent is deleted. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "id": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901"
                     *     }
                     */
                    "application/json": components["schemas"]["AgentDeletion"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UnrestrictedKeyRequired"];
            404: components["responses"]["AgentNotFound"];
            410: components["responses"]["AgentDeleted"];
            412: components["responses"]["EtagMismatch"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    updateAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the copy that you edited. If the resource has another one by now, the response is 412 and nothing changes. `*`: the resource has to exist. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                /**
                 * @description The agent.
                 * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901
                 */
                agentId: components["parameters"]["agentId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentUpdate"];
            };
        };
        responses: {
            /** @description The agent. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901",
                     *       "name": "Reviewer",
                     *       "archivedAt": null,
                     *       "createdAt": "2026-03-02T09:15:00.000Z",
                     *       "updatedAt": "2026-03-02T09:15:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Agent"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UnrestrictedKeyRequired"];
            404: components["responses"]["AgentNotFound"];
            410: components["responses"]["AgentDeleted"];
            412: components["responses"]["EtagMismatch"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    listSessions: {
        parameters: {
            query?: {
                /**
                 * @description The project that it belongs to.
                 * @example website
                 */
                projectId?: string;
                /** @description The maximum number of items on the page, at least 1. A number above 1000 counts as 1000. */
                limit?: components["parameters"]["limit"];
                /** @description The `nextCursor` of the previous page. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of sessions. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902",
                     *           "projectId": "website",
                     *           "name": "Rebuild the checkout",
                     *           "createdAt": "2026-03-02T09:15:00.000Z",
                     *           "updatedAt": "2026-03-02T09:15:00.000Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["SessionPage"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UnrestrictedKeyRequiredOrProjectForbidden"];
            404: components["responses"]["ProjectNotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    retrieveSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags of the copies you hold. If one matches, the response is 304. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                /**
                 * @description The session.
                 * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902
                 */
                sessionId: components["parameters"]["sessionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902",
                     *       "projectId": "website",
                     *       "name": "Rebuild the checkout",
                     *       "createdAt": "2026-03-02T09:15:00.000Z",
                     *       "updatedAt": "2026-03-02T09:15:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description Not modified. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            404: components["responses"]["SessionNotFound"];
            /** @description The session was deleted. `Error-Code`: `session_deleted`. */
            410: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    putSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the copy that you edited. If the resource has another one by now, the response is 412 and nothing changes. `*`: the resource has to exist. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description `*`: only create. If the resource exists already, the response is 412 and nothing changes. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The session.
                 * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902
                 */
                sessionId: components["parameters"]["sessionId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSession"];
            };
        };
        responses: {
            /** @description The session. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902",
                     *       "projectId": "website",
                     *       "name": "Rebuild the checkout",
                     *       "createdAt": "2026-03-02T09:15:00.000Z",
                     *       "updatedAt": "2026-03-02T09:15:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description The session was created. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902",
                     *       "projectId": "website",
                     *       "name": "Rebuild the checkout",
                     *       "createdAt": "2026-03-02T09:15:00.000Z",
                     *       "updatedAt": "2026-03-02T09:15:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Session"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            404: components["responses"]["ProjectNotFound"];
            /** @description The project is archived, the session belongs to another project, or the organization has the maximum number of sessions. `Error-Code`: `project_archived`, `project_mismatch`, `quota_exceeded`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The session was deleted. `Error-Code`: `session_deleted`. */
            410: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["EtagMismatchOrAlreadyExists"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    deleteSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the copy that you edited. If the resource has another one by now, the response is 412 and nothing changes. `*`: the resource has to exist. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                /**
                 * @description The session.
                 * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902
                 */
                sessionId: components["parameters"]["sessionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session is deleted. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "id": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902"
                     *     }
                     */
                    "application/json": components["schemas"]["SessionDeletion"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            404: components["responses"]["SessionNotFound"];
            /** @description The project is archived. Unarchive it first. `Error-Code`: `project_archived`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The session was deleted. `Error-Code`: `session_deleted`. */
            410: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["EtagMismatch"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    listPullRequests: {
        parameters: {
            query?: {
                /**
                 * @description The project that it belongs to.
                 * @example website
                 */
                projectId?: string;
                /** @description The maximum number of items on the page, at least 1. A number above 1000 counts as 1000. */
                limit?: components["parameters"]["limit"];
                /** @description The `nextCursor` of the previous page. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of pull requests. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e903",
                     *           "projectId": "website",
                     *           "name": "Accept Apple Pay",
                     *           "createdAt": "2026-03-02T09:15:00.000Z",
                     *           "updatedAt": "2026-03-02T09:15:00.000Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["PullRequestPage"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UnrestrictedKeyRequiredOrProjectForbidden"];
            404: components["responses"]["ProjectNotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    retrievePullRequest: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags of the copies you hold. If one matches, the response is 304. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                /**
                 * @description The pull request.
                 * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e903
                 */
                pullRequestId: components["parameters"]["pullRequestId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The pull request. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e903",
                     *       "projectId": "website",
                     *       "name": "Accept Apple Pay",
                     *       "createdAt": "2026-03-02T09:15:00.000Z",
                     *       "updatedAt": "2026-03-02T09:15:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["PullRequest"];
                };
            };
            /** @description Not modified. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            404: components["responses"]["PullRequestNotFound"];
            410: components["responses"]["PullRequestDeleted"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    putPullRequest: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the copy that you edited. If the resource has another one by now, the response is 412 and nothing changes. `*`: the resource has to exist. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description `*`: only create. If the resource exists already, the response is 412 and nothing changes. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The pull request.
                 * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e903
                 */
                pullRequestId: components["parameters"]["pullRequestId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPullRequest"];
            };
        };
        responses: {
            /** @description The pull request. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e903",
                     *       "projectId": "website",
                     *       "name": "Accept Apple Pay",
                     *       "createdAt": "2026-03-02T09:15:00.000Z",
                     *       "updatedAt": "2026-03-02T09:15:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["PullRequest"];
                };
            };
            /** @description The pull request was created. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e903",
                     *       "projectId": "website",
                     *       "name": "Accept Apple Pay",
                     *       "createdAt": "2026-03-02T09:15:00.000Z",
                     *       "updatedAt": "2026-03-02T09:15:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["PullRequest"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            404: components["responses"]["ProjectNotFound"];
            /** @description The project is archived, the pull request belongs to another project, or the organization has the maximum number of pull requests. `Error-Code`: `project_archived`, `project_mismatch`, `quota_exceeded`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            410: components["responses"]["PullRequestDeleted"];
            412: components["responses"]["EtagMismatchOrAlreadyExists"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    deletePullRequest: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the copy that you edited. If the resource has another one by now, the response is 412 and nothing changes. `*`: the resource has to exist. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                /**
                 * @description The pull request.
                 * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e903
                 */
                pullRequestId: components["parameters"]["pullRequestId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The pull request is deleted. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "id": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e903"
                     *     }
                     */
                    "application/json": components["schemas"]["PullRequestDeletion"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            404: components["responses"]["PullRequestNotFound"];
            /** @description The project is archived. Unarchive it first. `Error-Code`: `project_archived`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            410: components["responses"]["PullRequestDeleted"];
            412: components["responses"]["EtagMismatch"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    listUsers: {
        parameters: {
            query?: {
                /** @description The maximum number of items on the page, at least 1. A number above 1000 counts as 1000. */
                limit?: components["parameters"]["limit"];
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of users. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "ada",
                     *           "name": "Ada Lovelace",
                     *           "createdAt": "2026-03-02T09:15:00.000Z",
                     *           "updatedAt": "2026-03-02T09:15:00.000Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["UserPage"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    retrieveUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags of the copies you hold. If one matches, the response is 304. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                /**
                 * @description The user.
                 * @example ada
                 */
                userId: components["parameters"]["userId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "ada",
                     *       "name": "Ada Lovelace",
                     *       "createdAt": "2026-03-02T09:15:00.000Z",
                     *       "updatedAt": "2026-03-02T09:15:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["User"];
                };
            };
            /** @description Not modified. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["UserNotFound"];
            410: components["responses"]["UserDeleted"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    putUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the copy that you edited. If the resource has another one by now, the response is 412 and nothing changes. `*`: the resource has to exist. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description `*`: only create. If the resource exists already, the response is 412 and nothing changes. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The user.
                 * @example ada
                 */
                userId: components["parameters"]["userId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewUser"];
            };
        };
        responses: {
            /** @description The user. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "ada",
                     *       "name": "Ada Lovelace",
                     *       "createdAt": "2026-03-02T09:15:00.000Z",
                     *       "updatedAt": "2026-03-02T09:15:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["User"];
                };
            };
            /** @description The user was created. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "ada",
                     *       "name": "Ada Lovelace",
                     *       "createdAt": "2026-03-02T09:15:00.000Z",
                     *       "updatedAt": "2026-03-02T09:15:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["User"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UnrestrictedKeyRequired"];
            /** @description The organization has the maximum number of users. `Error-Code`: `quota_exceeded`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            410: components["responses"]["UserDeleted"];
            412: components["responses"]["EtagMismatchOrAlreadyExists"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    deleteUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the copy that you edited. If the resource has another one by now, the response is 412 and nothing changes. `*`: the resource has to exist. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                /**
                 * @description The user.
                 * @example ada
                 */
                userId: components["parameters"]["userId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user is deleted. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "id": "ada"
                     *     }
                     */
                    "application/json": components["schemas"]["UserDeletion"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            /** @description The API key is restricted to projects, or the user has a valid API key that yours may not delete. `Error-Code`: `unrestricted_key_required`, `api_key_forbidden`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            404: components["responses"]["UserNotFound"];
            410: components["responses"]["UserDeleted"];
            412: components["responses"]["EtagMismatch"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    listPins: {
        parameters: {
            query?: {
                /** @description `resource`: each pin has the property `resource`, with the name of what is pinned. */
                expand?: "resource";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All pins, on one page. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "resourceType": "session",
                     *           "resourceId": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902",
                     *           "createdAt": "2026-03-29T01:00:00.000Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["PinPage"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScopeOrUserRequired"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    putPin: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The type of the pinned resource.
                 * @example session
                 */
                resourceType: components["parameters"]["resourceType"];
                /**
                 * @description The ID of the pinned resource.
                 * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902
                 */
                resourceId: components["parameters"]["resourceId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource was pinned already. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "resourceType": "session",
                     *       "resourceId": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902",
                     *       "createdAt": "2026-03-29T01:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Pin"];
                };
            };
            /** @description The resource was pinned. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "resourceType": "session",
                     *       "resourceId": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902",
                     *       "createdAt": "2026-03-29T01:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Pin"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScopeOrUserRequired"];
            401: components["responses"]["Unauthorized"];
            /** @description The resource does not exist, or the API key does not reach it. `Error-Code`: `resource_not_found`. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The user has the maximum number of pins. `Error-Code`: `pin_limit`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    deletePin: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The type of the pinned resource.
                 * @example session
                 */
                resourceType: components["parameters"]["resourceType"];
                /**
                 * @description The ID of the pinned resource.
                 * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902
                 */
                resourceId: components["parameters"]["resourceId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource is no longer pinned. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "resourceType": "session",
                     *       "resourceId": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902"
                     *     }
                     */
                    "application/json": components["schemas"]["PinDeletion"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScopeOrUserRequired"];
            401: components["responses"]["Unauthorized"];
            /** @description The resource does not exist, the API key does not reach it, or it is not pinned. `Error-Code`: `resource_not_found`, `pin_not_found`. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    updatePin: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The type of the pinned resource.
                 * @example session
                 */
                resourceType: components["parameters"]["resourceType"];
                /**
                 * @description The ID of the pinned resource.
                 * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902
                 */
                resourceId: components["parameters"]["resourceId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PinPlacement"];
            };
        };
        responses: {
            /** @description The pin is at the requested position. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
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
            /** @description The path or body is invalid, or the API key lacks the required scope. `Error-Code`: `invalid_input`, `missing_scope`, `user_required`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The resource does not exist or the API key does not reach it, or the target is not pinned. `Error-Code`: `resource_not_found`, `pin_not_found`. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The resource is not pinned yet, and the user has the maximum number of pins. `Error-Code`: `pin_limit`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The pin could not be updated. `Error-Code`: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            default: components["responses"]["ServiceError"];
        };
    };
    listProjectSchedules: {
        parameters: {
            query?: {
                /** @description The maximum number of items on the page, at least 1. A number above 1000 counts as 1000. */
                limit?: components["parameters"]["limit"];
                /** @description The `nextCursor` of the previous page. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: never;
            path: {
                /**
                 * @description The project.
                 * @example website
                 */
                projectId: components["parameters"]["projectId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of schedules. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81",
                     *           "projectId": "website",
                     *           "cron": "30 9 * * mon-fri",
                     *           "timezone": "Europe/Paris",
                     *           "enabledAt": "2026-03-27T14:05:09.120Z",
                     *           "lastRunAt": null,
                     *           "nextRunAt": "2026-03-30T07:30:00.000Z",
                     *           "createdAt": "2026-03-27T14:05:09.120Z",
                     *           "updatedAt": "2026-03-27T14:05:09.120Z",
                     *           "name": "Nightly build",
                     *           "runAt": null,
                     *           "payload": {
                     *             "branch": "main"
                     *           },
                     *           "overlap": "skip",
                     *           "maxRunSeconds": 3600,
                     *           "pauseAfterFailures": 3,
                     *           "note": null,
                     *           "pausedReason": null
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["ProjectSchedulePage"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            /** @description The organization has no such project. `Error-Code`: `project_not_found`. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    createProjectSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat: a request with the same key and an equal body changes nothing and returns what the first one created, as it is now. With another body, it gets 409. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /**
                 * @description The project.
                 * @example website
                 */
                projectId: components["parameters"]["projectId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewProjectSchedule"];
            };
        };
        responses: {
            /** @description The schedule was created, now or by an earlier request with this `Idempotency-Key`. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /** @description The path of the schedule. */
                    Location?: string;
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81",
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
            400: components["responses"]["InvalidInputOrMissingScope"];
            403: components["responses"]["ProjectForbidden"];
            404: components["responses"]["ProjectNotFound"];
            /** @description The project is archived, the project or the organization has the maximum number of schedules, or the `Idempotency-Key` was used with another body. `Error-Code`: `project_archived`, `schedule_limit`, `quota_exceeded`, `idempotency_key_reused`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The schedule could not be created. `Error-Code`: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            default: components["responses"]["ServiceError"];
        };
    };
    retrieveProjectSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The project.
                 * @example website
                 */
                projectId: components["parameters"]["projectId"];
                /**
                 * @description The schedule.
                 * @example 0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81
                 */
                scheduleId: components["parameters"]["scheduleId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The schedule. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81",
                     *       "projectId": "website",
                     *       "cron": "30 9 * * mon-fri",
                     *       "timezone": "Europe/Paris",
                     *       "enabledAt": "2026-03-27T14:05:09.120Z",
                     *       "lastRunAt": null,
                     *       "nextRunAt": "2026-03-30T07:30:00.000Z",
                     *       "createdAt": "2026-03-27T14:05:09.120Z",
                     *       "updatedAt": "2026-03-27T14:05:09.120Z",
                     *       "name": "Nightly build",
                     *       "runAt": null,
                     *       "payload": {
                     *         "branch": "main"
                     *       },
                     *       "overlap": "skip",
                     *       "maxRunSeconds": 3600,
                     *       "pauseAfterFailures": 3,
                     *       "note": null,
                     *       "pausedReason": null,
                     *       "statistics": {
                     *         "since": "2026-02-27T14:05:09.120Z",
                     *         "runs": 21,
                     *         "succeeded": 20,
                     *         "failed": 1,
                     *         "medianSeconds": 84.2
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ProjectScheduleDetails"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            404: components["responses"]["ProjectNotFoundOrScheduleNotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    putProjectSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the copy that you edited. If the resource has another one by now, the response is 412 and nothing changes. `*`: the resource has to exist. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description `*`: only create. If the resource exists already, the response is 412 and nothing changes. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The project.
                 * @example website
                 */
                projectId: components["parameters"]["projectId"];
                /**
                 * @description The schedule.
                 * @example 0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81
                 */
                scheduleId: components["parameters"]["scheduleId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectScheduleSettings"];
            };
        };
        responses: {
            /** @description The schedule. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81",
                     *       "projectId": "website",
                     *       "cron": "30 9 * * mon-fri",
                     *       "timezone": "Europe/Paris",
                     *       "enabledAt": "2026-03-27T14:05:09.120Z",
                     *       "lastRunAt": null,
                     *       "nextRunAt": "2026-03-30T07:30:00.000Z",
                     *       "createdAt": "2026-03-27T14:05:09.120Z",
                     *       "updatedAt": "2026-03-27T14:05:09.120Z",
                     *       "name": "Nightly build",
                     *       "runAt": null,
                     *       "payload": {
                     *         "branch": "main"
                     *       },
                     *       "overlap": "skip",
                     *       "maxRunSeconds": 3600,
                     *       "pauseAfterFailures": 3,
                     *       "note": null,
                     *       "pausedReason": null
                     *     }
                     */
                    "application/json": components["schemas"]["ProjectScheduleState"];
                };
            };
            /** @description The schedule was created. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81",
                     *       "projectId": "website",
                     *       "cron": "30 9 * * mon-fri",
                     *       "timezone": "Europe/Paris",
                     *       "enabledAt": "2026-03-27T14:05:09.120Z",
                     *       "lastRunAt": null,
                     *       "nextRunAt": "2026-03-30T07:30:00.000Z",
                     *       "createdAt": "2026-03-27T14:05:09.120Z",
                     *       "updatedAt": "2026-03-27T14:05:09.120Z",
                     *       "name": "Nightly build",
                     *       "runAt": null,
                     *       "payload": {
                     *         "branch": "main"
                     *       },
                     *       "overlap": "skip",
                     *       "maxRunSeconds": 3600,
                     *       "pauseAfterFailures": 3,
                     *       "note": null,
                     *       "pausedReason": null
                     *     }
                     */
                    "application/json": components["schemas"]["ProjectScheduleState"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            /** @description The organization has no such project. `Error-Code`: `project_not_found`. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The project is archived, another project or agent has a schedule with this ID, or the project or the organization has the maximum number of schedules. `Error-Code`: `project_archived`, `schedule_limit`, `quota_exceeded`, `schedule_id_taken`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            410: components["responses"]["ScheduleDeleted"];
            412: components["responses"]["EtagMismatchOrAlreadyExists"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    deleteProjectSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the copy that you edited. If the resource has another one by now, the response is 412 and nothing changes. `*`: the resource has to exist. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                /**
                 * @description The project.
                 * @example website
                 */
                projectId: components["parameters"]["projectId"];
                /**
                 * @description The schedule.
                 * @example 0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81
                 */
                scheduleId: components["parameters"]["scheduleId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The schedule was deleted. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "id": "0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81"
                     *     }
                     */
                    "application/json": components["schemas"]["ProjectScheduleDeletion"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            404: components["responses"]["ProjectNotFoundOrScheduleNotFound"];
            409: components["responses"]["ProjectArchived"];
            412: components["responses"]["EtagMismatch"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    updateProjectSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the copy that you edited. If the resource has another one by now, the response is 412 and nothing changes. `*`: the resource has to exist. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                /**
                 * @description The project.
                 * @example website
                 */
                projectId: components["parameters"]["projectId"];
                /**
                 * @description The schedule.
                 * @example 0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81
                 */
                scheduleId: components["parameters"]["scheduleId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectScheduleUpdate"];
            };
        };
        responses: {
            /** @description The schedule. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81",
                     *       "projectId": "website",
                     *       "cron": "30 9 * * mon-fri",
                     *       "timezone": "Europe/Paris",
                     *       "enabledAt": "2026-03-27T14:05:09.120Z",
                     *       "lastRunAt": null,
                     *       "nextRunAt": "2026-03-30T07:30:00.000Z",
                     *       "createdAt": "2026-03-27T14:05:09.120Z",
                     *       "updatedAt": "2026-03-27T14:05:09.120Z",
                     *       "name": "Nightly build",
                     *       "runAt": null,
                     *       "payload": {
                     *         "branch": "main"
                     *       },
                     *       "overlap": "skip",
                     *       "maxRunSeconds": 3600,
                     *       "pauseAfterFailures": 3,
                     *       "note": null,
                     *       "pausedReason": null
                     *     }
                     */
                    "application/json": components["schemas"]["ProjectScheduleState"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            404: components["responses"]["ProjectNotFoundOrScheduleNotFound"];
            /** @description The project is archived, another request changed the schedule at the same time, or the schedule would have the overlap `skip` without `maxRunSeconds`. `Error-Code`: `project_archived`, `concurrent_change`, `max_run_seconds_required`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["EtagMismatch"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    listAgentSchedules: {
        parameters: {
            query?: {
                /** @description The maximum number of items on the page, at least 1. A number above 1000 counts as 1000. */
                limit?: components["parameters"]["limit"];
                /** @description The `nextCursor` of the previous page. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: never;
            path: {
                /**
                 * @description The agent.
                 * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901
                 */
                agentId: components["parameters"]["agentId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of schedules. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c82",
                     *           "agentId": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901",
                     *           "cron": "0 6 * * *",
                     *           "enabledAt": "2026-03-27T14:05:09.120Z",
                     *           "lastRunAt": null,
                     *           "nextRunAt": "2026-03-28T06:00:00.000Z",
                     *           "createdAt": "2026-03-27T14:05:09.120Z",
                     *           "updatedAt": "2026-03-27T14:05:09.120Z",
                     *           "name": "Nightly build",
                     *           "runAt": null,
                     *           "payload": {
                     *             "branch": "main"
                     *           },
                     *           "overlap": "skip",
                     *           "maxRunSeconds": 3600,
                     *           "pauseAfterFailures": 3,
                     *           "note": null,
                     *           "pausedReason": null
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["AgentSchedulePage"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            /** @description The organization has no such agent. `Error-Code`: `agent_not_found`. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    createAgentSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat: a request with the same key and an equal body changes nothing and returns what the first one created, as it is now. With another body, it gets 409. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /**
                 * @description The agent.
                 * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901
                 */
                agentId: components["parameters"]["agentId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAgentSchedule"];
            };
        };
        responses: {
            /** @description The schedule was created, now or by an earlier request with this `Idempotency-Key`. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /** @description The path of the schedule. */
                    Location?: string;
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c82",
                     *       "agentId": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901",
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
            400: components["responses"]["InvalidInputOrMissingScope"];
            404: components["responses"]["AgentNotFound"];
            /** @description The agent is archived, the agent or the organization has the maximum number of schedules, or the `Idempotency-Key` was used with another body. `Error-Code`: `agent_archived`, `schedule_limit`, `quota_exceeded`, `idempotency_key_reused`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The schedule could not be created. `Error-Code`: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            default: components["responses"]["ServiceError"];
        };
    };
    retrieveAgentSchedule: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The agent.
                 * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901
                 */
                agentId: components["parameters"]["agentId"];
                /**
                 * @description The schedule.
                 * @example 0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c82
                 */
                scheduleId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The schedule. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c82",
                     *       "agentId": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901",
                     *       "cron": "0 6 * * *",
                     *       "enabledAt": "2026-03-27T14:05:09.120Z",
                     *       "lastRunAt": null,
                     *       "nextRunAt": "2026-03-28T06:00:00.000Z",
                     *       "createdAt": "2026-03-27T14:05:09.120Z",
                     *       "updatedAt": "2026-03-27T14:05:09.120Z",
                     *       "name": "Nightly build",
                     *       "runAt": null,
                     *       "payload": {
                     *         "branch": "main"
                     *       },
                     *       "overlap": "skip",
                     *       "maxRunSeconds": 3600,
                     *       "pauseAfterFailures": 3,
                     *       "note": null,
                     *       "pausedReason": null,
                     *       "statistics": {
                     *         "since": "2026-02-27T14:05:09.120Z",
                     *         "runs": 21,
                     *         "succeeded": 20,
                     *         "failed": 1,
                     *         "medianSeconds": 84.2
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["AgentScheduleDetails"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrScheduleNotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    putAgentSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the copy that you edited. If the resource has another one by now, the response is 412 and nothing changes. `*`: the resource has to exist. */
                "If-Match"?: components["parameters"]["If-Match"];
                /** @description `*`: only create. If the resource exists already, the response is 412 and nothing changes. */
                "If-None-Match"?: string;
            };
            path: {
                /**
                 * @description The agent.
                 * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901
                 */
                agentId: components["parameters"]["agentId"];
                /**
                 * @description The schedule.
                 * @example 0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c82
                 */
                scheduleId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentScheduleSettings"];
            };
        };
        responses: {
            /** @description The schedule. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c82",
                     *       "agentId": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901",
                     *       "cron": "0 6 * * *",
                     *       "enabledAt": "2026-03-27T14:05:09.120Z",
                     *       "lastRunAt": null,
                     *       "nextRunAt": "2026-03-28T06:00:00.000Z",
                     *       "createdAt": "2026-03-27T14:05:09.120Z",
                     *       "updatedAt": "2026-03-27T14:05:09.120Z",
                     *       "name": "Nightly build",
                     *       "runAt": null,
                     *       "payload": {
                     *         "branch": "main"
                     *       },
                     *       "overlap": "skip",
                     *       "maxRunSeconds": 3600,
                     *       "pauseAfterFailures": 3,
                     *       "note": null,
                     *       "pausedReason": null
                     *     }
                     */
                    "application/json": components["schemas"]["AgentScheduleState"];
                };
            };
            /** @description The schedule was created. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c82",
                     *       "agentId": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901",
                     *       "cron": "0 6 * * *",
                     *       "enabledAt": "2026-03-27T14:05:09.120Z",
                     *       "lastRunAt": null,
                     *       "nextRunAt": "2026-03-28T06:00:00.000Z",
                     *       "createdAt": "2026-03-27T14:05:09.120Z",
                     *       "updatedAt": "2026-03-27T14:05:09.120Z",
                     *       "name": "Nightly build",
                     *       "runAt": null,
                     *       "payload": {
                     *         "branch": "main"
                     *       },
                     *       "overlap": "skip",
                     *       "maxRunSeconds": 3600,
                     *       "pauseAfterFailures": 3,
                     *       "note": null,
                     *       "pausedReason": null
                     *     }
                     */
                    "application/json": components["schemas"]["AgentScheduleState"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            /** @description The organization has no such agent. `Error-Code`: `agent_not_found`. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The agent is archived, another project or agent has a schedule with this ID, or the agent or the organization has the maximum number of schedules. `Error-Code`: `agent_archived`, `schedule_limit`, `quota_exceeded`, `schedule_id_taken`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            410: components["responses"]["ScheduleDeleted"];
            412: components["responses"]["EtagMismatchOrAlreadyExists"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    deleteAgentSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the copy that you edited. If the resource has another one by now, the response is 412 and nothing changes. `*`: the resource has to exist. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                /**
                 * @description The agent.
                 * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901
                 */
                agentId: components["parameters"]["agentId"];
                /**
                 * @description The schedule.
                 * @example 0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c82
                 */
                scheduleId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The schedule was deleted. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "id": "0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c82"
                     *     }
                     */
                    "application/json": components["schemas"]["AgentScheduleDeletion"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrScheduleNotFound"];
            409: components["responses"]["AgentArchived"];
            412: components["responses"]["EtagMismatch"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    updateAgentSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the copy that you edited. If the resource has another one by now, the response is 412 and nothing changes. `*`: the resource has to exist. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                /**
                 * @description The agent.
                 * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901
                 */
                agentId: components["parameters"]["agentId"];
                /**
                 * @description The schedule.
                 * @example 0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c82
                 */
                scheduleId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentScheduleUpdate"];
            };
        };
        responses: {
            /** @description The schedule. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c82",
                     *       "agentId": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901",
                     *       "cron": "0 6 * * *",
                     *       "enabledAt": "2026-03-27T14:05:09.120Z",
                     *       "lastRunAt": null,
                     *       "nextRunAt": "2026-03-28T06:00:00.000Z",
                     *       "createdAt": "2026-03-27T14:05:09.120Z",
                     *       "updatedAt": "2026-03-27T14:05:09.120Z",
                     *       "name": "Nightly build",
                     *       "runAt": null,
                     *       "payload": {
                     *         "branch": "main"
                     *       },
                     *       "overlap": "skip",
                     *       "maxRunSeconds": 3600,
                     *       "pauseAfterFailures": 3,
                     *       "note": null,
                     *       "pausedReason": null
                     *     }
                     */
                    "application/json": components["schemas"]["AgentScheduleState"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrScheduleNotFound"];
            /** @description The agent is archived, another request changed the schedule at the same time, or the schedule would have the overlap `skip` without `maxRunSeconds`. `Error-Code`: `agent_archived`, `concurrent_change`, `max_run_seconds_required`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["EtagMismatch"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    listSchedules: {
        parameters: {
            query?: {
                /**
                 * @description `false`: the paused schedules.
                 * @example true
                 */
                enabled?: "true" | "false";
                /**
                 * @description The schedules of projects, or of agents.
                 * @example project
                 */
                parentType?: "project" | "agent";
                /**
                 * @description The schedules that fire before this time.
                 * @example 2026-03-31T00:00:00.000Z
                 */
                nextRunBefore?: string;
                /** @description The maximum number of items on the page, at least 1. A number above 1000 counts as 1000. */
                limit?: components["parameters"]["limit"];
                /** @description The `nextCursor` of the previous page. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of schedules. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81",
                     *           "projectId": "website",
                     *           "agentId": null,
                     *           "name": "Nightly build",
                     *           "cron": "30 9 * * mon-fri",
                     *           "runAt": null,
                     *           "timezone": "Europe/Paris",
                     *           "enabledAt": "2026-03-27T14:05:09.120Z",
                     *           "pausedReason": null,
                     *           "nextRunAt": "2026-03-31T07:30:00.000Z",
                     *           "lastRunAt": "2026-03-30T07:30:00.000Z",
                     *           "lastOutcome": "succeeded"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["SchedulePage"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UnrestrictedKeyRequired"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    previewSchedule: {
        parameters: {
            query: {
                /**
                 * @description Five fields: minute, hour, day of month, month, day of week. They may have numbers, names, lists, ranges and steps. Also allowed: @hourly @daily @midnight @weekly @monthly @yearly @annually.
                 * @example 30 9 * * mon-fri
                 */
                cron: string;
                /**
                 * @description An IANA time zone name. `EST`, `MST` and `HST` are such names, and never change to summer time.
                 * @example Europe/Paris
                 */
                timezone?: string;
                /**
                 * @description The times are later than this one, which may have any form of RFC 3339. Default: now.
                 * @example 2026-03-29T01:00:00.000Z
                 */
                from?: string;
                /**
                 * @description The number of times, up to 100.
                 * @example 5
                 */
                count?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The next times. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "at": "2026-03-30T07:30:00.000Z",
                     *           "localTime": "2026-03-30T09:30:00+02:00"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["SchedulePreview"];
                };
            };
            400: components["responses"]["InvalidInput"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    listProjectScheduleRuns: {
        parameters: {
            query?: {
                /** @description The maximum number of items on the page, at least 1. A number above 1000 counts as 1000. */
                limit?: components["parameters"]["limit"];
                /** @description The `nextCursor` of the previous page. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: never;
            path: {
                /**
                 * @description The project.
                 * @example website
                 */
                projectId: components["parameters"]["projectId"];
                /**
                 * @description The schedule.
                 * @example 0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81
                 */
                scheduleId: components["parameters"]["scheduleId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of runs. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019d3da6-44c0-8af1-a829-4c5f72adcc57",
                     *           "scheduleId": "0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81",
                     *           "projectId": "website",
                     *           "agentId": null,
                     *           "scheduledAt": "2026-03-30T07:30:00.000Z",
                     *           "status": "succeeded",
                     *           "failure": null,
                     *           "attempts": 1,
                     *           "lastError": null,
                     *           "startedAt": "2026-03-30T07:30:02.512Z",
                     *           "finishedAt": "2026-03-30T07:31:26.734Z",
                     *           "message": "Built 14 pages.",
                     *           "sessionId": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902",
                     *           "createdAt": "2026-03-30T07:30:01.204Z",
                     *           "updatedAt": "2026-03-30T07:31:26.734Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["RunPage"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            404: components["responses"]["ProjectNotFoundOrScheduleNotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    createProjectScheduleRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat: a request with the same key and an equal body changes nothing and returns what the first one created, as it is now. With another body, it gets 409. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /**
                 * @description The project.
                 * @example website
                 */
                projectId: components["parameters"]["projectId"];
                /**
                 * @description The schedule.
                 * @example 0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81
                 */
                scheduleId: components["parameters"]["scheduleId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run was created, now or by an earlier request with this `Idempotency-Key`. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /** @description The path of the run. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019d3da6-44c0-8af1-a829-4c5f72adcc57",
                     *       "scheduleId": "0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81",
                     *       "projectId": "website",
                     *       "agentId": null,
                     *       "scheduledAt": "2026-03-30T07:30:00.000Z",
                     *       "status": "pending",
                     *       "failure": null,
                     *       "attempts": 0,
                     *       "lastError": null,
                     *       "startedAt": null,
                     *       "finishedAt": null,
                     *       "message": null,
                     *       "sessionId": null,
                     *       "createdAt": "2026-03-30T07:30:01.204Z",
                     *       "updatedAt": "2026-03-30T07:31:26.734Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            404: components["responses"]["ProjectNotFoundOrScheduleNotFound"];
            409: components["responses"]["ProjectArchived"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    listAgentScheduleRuns: {
        parameters: {
            query?: {
                /** @description The maximum number of items on the page, at least 1. A number above 1000 counts as 1000. */
                limit?: components["parameters"]["limit"];
                /** @description The `nextCursor` of the previous page. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: never;
            path: {
                /**
                 * @description The agent.
                 * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901
                 */
                agentId: components["parameters"]["agentId"];
                /**
                 * @description The schedule.
                 * @example 0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c82
                 */
                scheduleId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of runs. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019d3da6-44c0-8af1-a829-4c5f72adcc57",
                     *           "scheduleId": "0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c82",
                     *           "projectId": null,
                     *           "agentId": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901",
                     *           "scheduledAt": "2026-03-30T07:30:00.000Z",
                     *           "status": "succeeded",
                     *           "failure": null,
                     *           "attempts": 1,
                     *           "lastError": null,
                     *           "startedAt": "2026-03-30T07:30:02.512Z",
                     *           "finishedAt": "2026-03-30T07:31:26.734Z",
                     *           "message": "Built 14 pages.",
                     *           "sessionId": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902",
                     *           "createdAt": "2026-03-30T07:30:01.204Z",
                     *           "updatedAt": "2026-03-30T07:31:26.734Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["RunPage"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrScheduleNotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    createAgentScheduleRun: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat: a request with the same key and an equal body changes nothing and returns what the first one created, as it is now. With another body, it gets 409. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path: {
                /**
                 * @description The agent.
                 * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901
                 */
                agentId: components["parameters"]["agentId"];
                /**
                 * @description The schedule.
                 * @example 0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c82
                 */
                scheduleId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run was created, now or by an earlier request with this `Idempotency-Key`. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /** @description The path of the run. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019d3da6-44c0-8af1-a829-4c5f72adcc57",
                     *       "scheduleId": "0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c82",
                     *       "projectId": null,
                     *       "agentId": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901",
                     *       "scheduledAt": "2026-03-30T07:30:00.000Z",
                     *       "status": "pending",
                     *       "failure": null,
                     *       "attempts": 0,
                     *       "lastError": null,
                     *       "startedAt": null,
                     *       "finishedAt": null,
                     *       "message": null,
                     *       "sessionId": null,
                     *       "createdAt": "2026-03-30T07:30:01.204Z",
                     *       "updatedAt": "2026-03-30T07:31:26.734Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrScheduleNotFound"];
            409: components["responses"]["AgentArchived"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    listRuns: {
        parameters: {
            query?: {
                /**
                 * @description The status of the runs. Default: all.
                 * @example pending
                 */
                status?: "pending" | "delivered" | "succeeded" | "failed" | "skipped";
                /** @description The schedule of the runs. */
                scheduleId?: string;
                /**
                 * @description The runs of this project. Required for an API key that is restricted to projects.
                 * @example website
                 */
                projectId?: string;
                /**
                 * @description The runs with this `scheduledAt` or a later one.
                 * @example 2026-03-30T00:00:00.000Z
                 */
                since?: string;
                /** @description The maximum number of items on the page, at least 1. A number above 1000 counts as 1000. */
                limit?: components["parameters"]["limit"];
                /** @description The `nextCursor` of the previous page. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of runs. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019d3da6-44c0-8af1-a829-4c5f72adcc57",
                     *           "scheduleId": "0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81",
                     *           "projectId": "website",
                     *           "agentId": null,
                     *           "scheduledAt": "2026-03-30T07:30:00.000Z",
                     *           "status": "pending",
                     *           "failure": null,
                     *           "attempts": 0,
                     *           "lastError": null,
                     *           "startedAt": null,
                     *           "finishedAt": null,
                     *           "message": null,
                     *           "sessionId": null,
                     *           "createdAt": "2026-03-30T07:30:01.204Z",
                     *           "updatedAt": "2026-03-30T07:31:26.734Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["RunPage"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            /** @description The API key is restricted to other projects, or it is restricted and the request names no project. `Error-Code`: `unrestricted_key_required`, `project_forbidden`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            404: components["responses"]["ProjectNotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    claimRuns: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RunClaimRequest"];
            };
        };
        responses: {
            /** @description The claimed runs, oldest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "019d3da6-44c0-8af1-a829-4c5f72adcc57",
                     *           "scheduleId": "0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81",
                     *           "name": "Nightly build",
                     *           "projectId": "website",
                     *           "agentId": null,
                     *           "cron": "30 9 * * mon-fri",
                     *           "runAt": null,
                     *           "timezone": "Europe/Paris",
                     *           "scheduledAt": "2026-03-30T07:30:00.000Z",
                     *           "payload": {
                     *             "branch": "main"
                     *           },
                     *           "attempt": 1,
                     *           "previous": null,
                     *           "claimId": "7a0c6f1e-4b3d-4c55-9f0e-2d8b1c7e5a90",
                     *           "leaseExpiresAt": "2026-03-30T07:35:01.204Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["ClaimedRuns"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            /** @description The API key is restricted to other projects, or it is restricted and the request names no project. `Error-Code`: `unrestricted_key_required`, `project_forbidden`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            404: components["responses"]["ProjectNotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    retrieveRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run.
                 * @example 019d3da6-44c0-8af1-a829-4c5f72adcc57
                 */
                runId: components["parameters"]["runId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019d3da6-44c0-8af1-a829-4c5f72adcc57",
                     *       "scheduleId": "0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81",
                     *       "projectId": "website",
                     *       "agentId": null,
                     *       "scheduledAt": "2026-03-30T07:30:00.000Z",
                     *       "status": "succeeded",
                     *       "failure": null,
                     *       "attempts": 1,
                     *       "lastError": null,
                     *       "startedAt": "2026-03-30T07:30:02.512Z",
                     *       "finishedAt": "2026-03-30T07:31:26.734Z",
                     *       "message": "Built 14 pages.",
                     *       "sessionId": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902",
                     *       "createdAt": "2026-03-30T07:30:01.204Z",
                     *       "updatedAt": "2026-03-30T07:31:26.734Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            404: components["responses"]["RunNotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    acknowledgeRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run.
                 * @example 019d382d-8300-8344-8287-6df80a0feba7
                 */
                runId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019d3da6-44c0-8af1-a829-4c5f72adcc57",
                     *       "scheduleId": "0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81",
                     *       "projectId": "website",
                     *       "agentId": null,
                     *       "scheduledAt": "2026-03-30T07:30:00.000Z",
                     *       "status": "succeeded",
                     *       "failure": null,
                     *       "attempts": 1,
                     *       "lastError": null,
                     *       "startedAt": "2026-03-30T07:30:02.512Z",
                     *       "finishedAt": "2026-03-30T07:31:26.734Z",
                     *       "message": "Built 14 pages.",
                     *       "sessionId": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902",
                     *       "createdAt": "2026-03-30T07:30:01.204Z",
                     *       "updatedAt": "2026-03-30T07:31:26.734Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            404: components["responses"]["RunNotFound"];
            /** @description The run is claimed, finished or was skipped. `Error-Code`: `run_not_pending`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    renewRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run.
                 * @example 019d3307-2700-8fc3-8798-6b258822d765
                 */
                runId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RunRenewal"];
            };
        };
        responses: {
            /** @description The claim. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019d3307-2700-8fc3-8798-6b258822d765",
                     *       "claimId": "7a0c6f1e-4b3d-4c55-9f0e-2d8b1c7e5a90",
                     *       "leaseExpiresAt": "2026-03-30T07:35:01.204Z"
                     *     }
                     */
                    "application/json": components["schemas"]["RunClaim"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            404: components["responses"]["RunNotFound"];
            /** @description The claim has ended, the time limit of the run is over, or the run has another claim or none. `Error-Code`: `claim_mismatch`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    completeRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The run.
                 * @example 019d3da6-44c0-8af1-a829-4c5f72adcc57
                 */
                runId: components["parameters"]["runId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RunCompletion"];
            };
        };
        responses: {
            /** @description The run. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "019d3da6-44c0-8af1-a829-4c5f72adcc57",
                     *       "scheduleId": "0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81",
                     *       "projectId": "website",
                     *       "agentId": null,
                     *       "scheduledAt": "2026-03-30T07:30:00.000Z",
                     *       "status": "succeeded",
                     *       "failure": null,
                     *       "attempts": 1,
                     *       "lastError": null,
                     *       "startedAt": "2026-03-30T07:30:02.512Z",
                     *       "finishedAt": "2026-03-30T07:31:26.734Z",
                     *       "message": "Built 14 pages.",
                     *       "sessionId": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902",
                     *       "createdAt": "2026-03-30T07:30:01.204Z",
                     *       "updatedAt": "2026-03-30T07:31:26.734Z"
                     *     }
                     */
                    "application/json": components["schemas"]["Run"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            /** @description The organization has no such run, or its schedule was deleted, or it has no such session. `Error-Code`: `run_not_found`, `session_not_found`. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The run was skipped, has another outcome already, has another claim, its time limit is over, or a newer run exists (overlap `skip`). `Error-Code`: `claim_mismatch`, `run_finished`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    retrieveRunEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run endpoint. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "url": "https://hooks.example.com/runs",
                     *       "previousSecretExpiresAt": null,
                     *       "createdAt": "2026-03-27T14:05:09.120Z",
                     *       "updatedAt": "2026-03-27T14:05:09.120Z"
                     *     }
                     */
                    "application/json": components["schemas"]["RunEndpoint"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UnrestrictedKeyRequired"];
            404: components["responses"]["RunEndpointNotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    putRunEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RunEndpointUpdate"];
            };
        };
        responses: {
            /** @description The run endpoint has the new URL. `secret` is null. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "url": "https://hooks.example.com/runs",
                     *       "previousSecretExpiresAt": null,
                     *       "createdAt": "2026-03-27T14:05:09.120Z",
                     *       "updatedAt": "2026-03-27T14:05:09.120Z",
                     *       "secret": "whsec_YW4gZXhhbXBsZSBvZiAzMiBieXRlcywgbm8gc2VjcmV0ISE="
                     *     }
                     */
                    "application/json": components["schemas"]["RunEndpointWithSecret"];
                };
            };
            /** @description The run endpoint was created. `secret` is its secret, which no other response contains. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "url": "https://hooks.example.com/runs",
                     *       "previousSecretExpiresAt": null,
                     *       "createdAt": "2026-03-27T14:05:09.120Z",
                     *       "updatedAt": "2026-03-27T14:05:09.120Z",
                     *       "secret": "whsec_YW4gZXhhbXBsZSBvZiAzMiBieXRlcywgbm8gc2VjcmV0ISE="
                     *     }
                     */
                    "application/json": components["schemas"]["RunEndpointWithSecret"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UnrestrictedKeyRequired"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    deleteRunEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The run endpoint is deleted. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true
                     *     }
                     */
                    "application/json": components["schemas"]["RunEndpointDeletion"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UnrestrictedKeyRequired"];
            404: components["responses"]["RunEndpointNotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    rotateRunEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RunEndpointRotation"];
            };
        };
        responses: {
            /** @description The run endpoint with its new secret, which no other response contains. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "url": "https://hooks.example.com/runs",
                     *       "previousSecretExpiresAt": "2026-03-28T14:05:09.120Z",
                     *       "createdAt": "2026-03-27T14:05:09.120Z",
                     *       "updatedAt": "2026-03-27T14:05:09.120Z",
                     *       "secret": "whsec_YW4gZXhhbXBsZSBvZiAzMiBieXRlcywgbm8gc2VjcmV0ISE="
                     *     }
                     */
                    "application/json": components["schemas"]["RotatedRunEndpoint"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UnrestrictedKeyRequired"];
            404: components["responses"]["RunEndpointNotFound"];
            /** @description The previous secret is still valid. Wait until it expires, or rotate with `overlapSeconds` 0. `Error-Code`: `rotation_in_progress`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    listSessionFiles: {
        parameters: {
            query?: {
                /** @description The maximum number of items on the page, at least 1. A number above 1000 counts as 1000. */
                limit?: components["parameters"]["limit"];
                /** @description The `nextCursor` of the previous page. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: never;
            path: {
                /**
                 * @description The session.
                 * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902
                 */
                sessionId: components["parameters"]["sessionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of files. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70",
                     *           "sessionId": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902",
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
            400: components["responses"]["InvalidInputOrMissingScope"];
            403: components["responses"]["ProjectForbidden"];
            404: components["responses"]["SessionNotFound"];
            /** @description The cursor is a file of another session. `Error-Code`: `cursor_mismatch`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            410: components["responses"]["SessionDeleted"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    putSessionFile: {
        parameters: {
            query: {
                /**
                 * @description The path of the file, relative to the folder that the session worked in. A `+` in a query means a space; write a plus sign as `%2B`.
                 * @example src/app.ts
                 */
                path: string;
            };
            header?: never;
            path: {
                /**
                 * @description The session.
                 * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902
                 */
                sessionId: components["parameters"]["sessionId"];
            };
            cookie?: never;
        };
        /** @description The content, up to 95 MB (95,000,000 bytes). `Content-Length` is required. */
        requestBody: {
            content: {
                "application/octet-stream": Blob | ArrayBuffer | Uint8Array;
                "*/*": Blob | ArrayBuffer | Uint8Array;
            };
        };
        responses: {
            /** @description The file has the new content. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70",
                     *       "sessionId": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902",
                     *       "path": "src/app.ts",
                     *       "createdAt": "2026-03-29T01:00:00.000Z",
                     *       "updatedAt": "2026-03-29T01:00:00.000Z",
                     *       "sizeBytes": 6,
                     *       "contentType": "text/plain; charset=utf-8",
                     *       "sha256": "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
                     *     }
                     */
                    "application/json": components["schemas"]["SessionFileDetails"];
                };
            };
            /** @description The file was created. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70",
                     *       "sessionId": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902",
                     *       "path": "src/app.ts",
                     *       "createdAt": "2026-03-29T01:00:00.000Z",
                     *       "updatedAt": "2026-03-29T01:00:00.000Z",
                     *       "sizeBytes": 6,
                     *       "contentType": "text/plain; charset=utf-8",
                     *       "sha256": "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
                     *     }
                     */
                    "application/json": components["schemas"]["SessionFileDetails"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            404: components["responses"]["SessionNotFound"];
            /** @description The project is archived, the organization would have more files or bytes than its quota, or the upload took more than an hour. `Error-Code`: `project_archived`, `quota_exceeded`, `upload_expired`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            410: components["responses"]["SessionDeleted"];
            /** @description The request has no `Content-Length`. `Error-Code`: `length_required`. */
            411: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    retrieveSessionFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The session.
                 * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902
                 */
                sessionId: components["parameters"]["sessionId"];
                /**
                 * @description The file.
                 * @example 0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70
                 */
                fileId: components["parameters"]["fileId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70",
                     *       "sessionId": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902",
                     *       "path": "src/app.ts",
                     *       "createdAt": "2026-03-29T01:00:00.000Z",
                     *       "updatedAt": "2026-03-29T01:00:00.000Z",
                     *       "sizeBytes": 6,
                     *       "contentType": "text/plain; charset=utf-8",
                     *       "sha256": "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
                     *     }
                     */
                    "application/json": components["schemas"]["SessionFileDetails"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            404: components["responses"]["SessionNotFoundOrSessionFileNotFound"];
            410: components["responses"]["SessionDeleted"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    deleteSessionFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The session.
                 * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902
                 */
                sessionId: components["parameters"]["sessionId"];
                /**
                 * @description The file.
                 * @example 0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70
                 */
                fileId: components["parameters"]["fileId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The file is deleted. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70"
                     *     }
                     */
                    "application/json": components["schemas"]["SessionFileDeletion"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            404: components["responses"]["SessionNotFoundOrSessionFileNotFound"];
            /** @description The project is archived. Unarchive it first. `Error-Code`: `project_archived`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            410: components["responses"]["SessionDeleted"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    retrieveSessionFileContent: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags of the copies you hold. If one matches, the response is 304. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
                /** @description One range of bytes, such as `bytes=0-1023`. If several ranges are given, the response is the whole content. */
                Range?: string;
                /** @description The ETag of your partial copy. If the content has changed, the response is the whole content. */
                "If-Range"?: string;
            };
            path: {
                /**
                 * @description The session.
                 * @example 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902
                 */
                sessionId: components["parameters"]["sessionId"];
                /**
                 * @description The file.
                 * @example 0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70
                 */
                fileId: components["parameters"]["fileId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The content. The `contentType` of the file says what it is. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /** @description The entity tag of the content. */
                    ETag?: string;
                    "Accept-Ranges": components["headers"]["Accept-Ranges"];
                    "Content-Disposition": components["headers"]["Content-Disposition"];
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description The range of bytes. */
            206: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /** @description The entity tag of the content. */
                    ETag?: string;
                    "Accept-Ranges": components["headers"]["Accept-Ranges"];
                    "Content-Disposition": components["headers"]["Content-Disposition"];
                    /** @description The range, and the size of the whole content. */
                    "Content-Range"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description Not modified. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /** @description The entity tag of the content. */
                    ETag?: string;
                    "Accept-Ranges": components["headers"]["Accept-Ranges"];
                    "Content-Disposition": components["headers"]["Content-Disposition"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            404: components["responses"]["SessionNotFoundOrSessionFileNotFound"];
            410: components["responses"]["SessionDeleted"];
            /** @description The content has no bytes in this range. `Error-Code`: `range_not_satisfiable`. */
            416: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    listSkills: {
        parameters: {
            query?: {
                /**
                 * @description Only the skill with this name.
                 * @example release-notes
                 */
                name?: string;
                /** @description The maximum number of items on the page, at least 1. A number above 1000 counts as 1000. */
                limit?: components["parameters"]["limit"];
                /** @description The `nextCursor` of the previous page. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of skills. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c71",
                     *           "name": "release-notes",
                     *           "description": "Writes release notes from merged pull requests.",
                     *           "createdAt": "2026-03-02T09:15:00.000Z",
                     *           "updatedAt": "2026-03-29T01:00:00.000Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["SkillPage"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    createSkill: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat: a request with the same key and an equal body changes nothing and returns what the first one created, as it is now. With another body, it gets 409. */
                "Idempotency-Key"?: components["parameters"]["Idempotency-Key"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSkill"];
            };
        };
        responses: {
            /** @description The skill was created, by this request or an earlier one with the same `Idempotency-Key`. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /** @description The path of the skill. */
                    Location?: string;
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c71",
                     *       "name": "commit-messages",
                     *       "description": "Writes commit messages from staged changes.",
                     *       "createdAt": "2026-03-02T09:15:00.000Z",
                     *       "updatedAt": "2026-03-29T01:00:00.000Z",
                     *       "files": [
                     *         {
                     *           "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c72",
                     *           "filename": "SKILL.md",
                     *           "content": "---\nname: commit-messages\ndescription: Writes commit messages from staged changes.\n---\n\n1. List the changes.\n2. Write one line for each, for the people who read it.\n"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Skill"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            /** @description Another skill has this name, the organization would have more skills or bytes of skill files than its quota, the `Idempotency-Key` was used with another body, or storing the archive took more than an hour. `Error-Code`: `skill_name_taken`, `quota_exceeded`, `idempotency_key_reused`, `upload_expired`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    retrieveSkill: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags of the copies you hold. If one matches, the response is 304. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                /**
                 * @description The skill.
                 * @example 0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c71
                 */
                skillId: components["parameters"]["skillId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The skill with all of its files. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /** @description The entity tag of the skill. It changes whenever the skill or one of its files changes. */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c71",
                     *       "name": "release-notes",
                     *       "description": "Writes release notes from merged pull requests.",
                     *       "createdAt": "2026-03-02T09:15:00.000Z",
                     *       "updatedAt": "2026-03-29T01:00:00.000Z",
                     *       "files": [
                     *         {
                     *           "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c72",
                     *           "filename": "SKILL.md",
                     *           "content": "---\nname: release-notes\ndescription: Writes release notes from merged pull requests.\n---\n\n1. List the changes.\n2. Write one line for each, for the people who read it.\n"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Skill"];
                };
            };
            /** @description Not modified. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /** @description The entity tag of the skill. It changes whenever the skill or one of its files changes. */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The path is invalid, or the API key lacks the required scope. `Error-Code`: `invalid_input`, `missing_scope`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            404: components["responses"]["SkillNotFound"];
            /** @description The skill could not be retrieved. `Error-Code`: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            default: components["responses"]["ServiceError"];
        };
    };
    deleteSkill: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the copy that you edited. If the resource has another one by now, the response is 412 and nothing changes. `*`: the resource has to exist. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                /**
                 * @description The skill.
                 * @example 0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c71
                 */
                skillId: components["parameters"]["skillId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The skill was deleted. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c71"
                     *     }
                     */
                    "application/json": components["schemas"]["SkillDeletion"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["SkillNotFound"];
            412: components["responses"]["EtagMismatch"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    updateSkill: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the copy that you edited. If the resource has another one by now, the response is 412 and nothing changes. `*`: the resource has to exist. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                /**
                 * @description The skill.
                 * @example 0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c71
                 */
                skillId: components["parameters"]["skillId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSkillVersion"];
            };
        };
        responses: {
            /** @description The skill with all of its files. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c71",
                     *       "name": "release-notes",
                     *       "description": "Writes release notes from merged pull requests.",
                     *       "createdAt": "2026-03-02T09:15:00.000Z",
                     *       "updatedAt": "2026-03-29T01:00:00.000Z",
                     *       "files": [
                     *         {
                     *           "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c72",
                     *           "filename": "SKILL.md",
                     *           "content": "---\nname: release-notes\ndescription: Writes release notes from merged pull requests.\n---\n\n1. List the changes.\n2. Write one line for each, for the people who read it.\n"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Skill"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["SkillNotFound"];
            /** @description Another skill has this name, the organization would have more bytes of skill files than its quota, or storing the archive took more than an hour. `Error-Code`: `skill_name_taken`, `quota_exceeded`, `upload_expired`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["EtagMismatch"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    listSkillVersions: {
        parameters: {
            query?: {
                /** @description The maximum number of items on the page, at least 1. A number above 1000 counts as 1000. */
                limit?: components["parameters"]["limit"];
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The skill.
                 * @example 0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c71
                 */
                skillId: components["parameters"]["skillId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of versions. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "version": 2,
                     *           "name": "release-notes",
                     *           "description": "Writes release notes from merged pull requests.",
                     *           "digest": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *           "isCurrent": true,
                     *           "message": "List breaking changes first.",
                     *           "apiKeyId": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c73",
                     *           "userId": "ada",
                     *           "createdAt": "2026-03-29T01:00:00.000Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["SkillVersionPage"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["SkillNotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    retrieveSkillVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The skill.
                 * @example 0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c71
                 */
                skillId: components["parameters"]["skillId"];
                /**
                 * @description The version.
                 * @example 2
                 */
                version: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The version with all of its files. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "version": 2,
                     *       "name": "release-notes",
                     *       "description": "Writes release notes from merged pull requests.",
                     *       "digest": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                     *       "isCurrent": true,
                     *       "message": "List breaking changes first.",
                     *       "apiKeyId": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c73",
                     *       "userId": "ada",
                     *       "createdAt": "2026-03-29T01:00:00.000Z",
                     *       "files": [
                     *         {
                     *           "filename": "SKILL.md",
                     *           "content": "---\nname: release-notes\ndescription: Writes release notes from merged pull requests.\n---\n\n1. List the changes.\n2. Write one line for each, for the people who read it.\n",
                     *           "encoding": "utf-8",
                     *           "executable": false,
                     *           "sizeBytes": 167,
                     *           "sha256": "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["SkillVersion"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["SkillNotFoundOrSkillVersionNotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    publishSkillVersion: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the copy that you edited. If the resource has another one by now, the response is 412 and nothing changes. `*`: the resource has to exist. */
                "If-Match"?: components["parameters"]["If-Match"];
            };
            path: {
                /**
                 * @description The skill.
                 * @example 0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c71
                 */
                skillId: components["parameters"]["skillId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SkillPublication"];
            };
        };
        responses: {
            /** @description The skill with the files of the version. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c71",
                     *       "name": "release-notes",
                     *       "description": "Writes release notes from merged pull requests.",
                     *       "createdAt": "2026-03-02T09:15:00.000Z",
                     *       "updatedAt": "2026-03-29T01:00:00.000Z",
                     *       "files": [
                     *         {
                     *           "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c72",
                     *           "filename": "SKILL.md",
                     *           "content": "---\nname: release-notes\ndescription: Writes release notes from merged pull requests.\n---\n\n1. List the changes.\n2. Write one line for each, for the people who read it.\n"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["Skill"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["SkillNotFoundOrSkillVersionNotFound"];
            /** @description Another skill has the name of this version. `Error-Code`: `skill_name_taken`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            412: components["responses"]["EtagMismatch"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    retrieveSkillArchive: {
        parameters: {
            query?: {
                /**
                 * @description The version; the current one if it is left out.
                 * @example 2
                 */
                version?: string;
            };
            header?: {
                /** @description ETags of the copies you hold. If one matches, the response is 304. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                /**
                 * @description The skill.
                 * @example 0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c71
                 */
                skillId: components["parameters"]["skillId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The archive. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /** @description The digest of the version. */
                    ETag?: string;
                    /** @description `attachment` with a filename such as `release-notes-2.tar.gz`. */
                    "Content-Disposition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/gzip": string;
                };
            };
            /** @description Not modified. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /** @description The digest of the version. */
                    ETag?: string;
                    /** @description `attachment` with a filename such as `release-notes-2.tar.gz`. */
                    "Content-Disposition"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["SkillNotFoundOrSkillVersionNotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    listSkillFeeds: {
        parameters: {
            query?: {
                /** @description The maximum number of items on the page, at least 1. A number above 1000 counts as 1000. */
                limit?: components["parameters"]["limit"];
                /** @description The `nextCursor` of the previous page. */
                cursor?: components["parameters"]["cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of feeds. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c74",
                     *           "name": "Laptops of the team",
                     *           "skills": [
                     *             {
                     *               "skillId": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c71",
                     *               "version": null
                     *             }
                     *           ],
                     *           "expiresAt": null,
                     *           "apiKeyId": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c73",
                     *           "createdAt": "2026-03-29T01:00:00.000Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["SkillFeedPage"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    createSkillFeed: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSkillFeed"];
            };
        };
        responses: {
            /** @description The feed was created. Only this response contains its address. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /** @description The path of the feed. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c74",
                     *       "name": "Laptops of the team",
                     *       "skills": [
                     *         {
                     *           "skillId": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c71",
                     *           "version": null
                     *         }
                     *       ],
                     *       "expiresAt": null,
                     *       "apiKeyId": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c73",
                     *       "createdAt": "2026-03-29T01:00:00.000Z",
                     *       "url": "https://api.example.com/feeds/wsf_…"
                     *     }
                     */
                    "application/json": components["schemas"]["SkillFeedWithUrl"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            /** @description The organization has no such skill, or the skill has no such version. `Error-Code`: `skill_not_found`, `skill_version_not_found`. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The organization has the most feeds allowed. `Error-Code`: `skill_feed_limit`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    deleteSkillFeed: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The feed.
                 * @example 0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c74
                 */
                feedId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The feed was deleted. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "deleted": true,
                     *       "id": "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c74"
                     *     }
                     */
                    "application/json": components["schemas"]["SkillFeedDeletion"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            /** @description The organization has no feed with this feedId. `Error-Code`: `skill_feed_not_found`. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    retrieveProfilePicture: {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags of the copies you hold. If one matches, the response is 304. */
                "If-None-Match"?: components["parameters"]["If-None-Match"];
            };
            path: {
                /**
                 * @description The user.
                 * @example ada
                 */
                userId: components["parameters"]["userId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The picture. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /** @description The entity tag of the picture. */
                    ETag?: string;
                    /** @description `inline`, with a file name for the format: browsers may show the picture. */
                    "Content-Disposition"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "image/png": string;
                    "image/jpeg": string;
                    "image/gif": string;
                    "image/webp": string;
                };
            };
            /** @description Not modified. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /** @description The entity tag of the picture. */
                    ETag?: string;
                    /** @description `inline`, with a file name for the format: browsers may show the picture. */
                    "Content-Disposition"?: string;
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            /** @description The organization has no user with this userId, or the user has no profile picture. `Error-Code`: `user_not_found`, `profile_picture_not_found`. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    putProfilePicture: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The user that the API key acts as.
                 * @example ada
                 */
                userId: string;
            };
            cookie?: never;
        };
        /** @description A PNG, JPEG, GIF or WebP image of up to 5 MiB. The service detects the format from the bytes and ignores `Content-Type`. */
        requestBody: {
            content: {
                "application/octet-stream": Blob | ArrayBuffer | Uint8Array;
                "image/png": Blob | ArrayBuffer | Uint8Array;
                "image/jpeg": Blob | ArrayBuffer | Uint8Array;
                "image/gif": Blob | ArrayBuffer | Uint8Array;
                "image/webp": Blob | ArrayBuffer | Uint8Array;
            };
        };
        responses: {
            /** @description The picture replaces the one before. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "userId": "ada",
                     *       "contentType": "image/png",
                     *       "updatedAt": "2026-03-29T01:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["ProfilePicture"];
                };
            };
            /** @description The picture is stored; there was none before. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "userId": "ada",
                     *       "contentType": "image/png",
                     *       "updatedAt": "2026-03-29T01:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["ProfilePicture"];
                };
            };
            /** @description The path or body is invalid, the body is not a PNG, JPEG, GIF or WebP image, or the API key lacks the required scope. `Error-Code`: `invalid_input`, `missing_scope`, `user_required`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["OtherUser"];
            404: components["responses"]["UserNotFound"];
            /** @description The upload took too long, or a newer upload replaced it. `Error-Code`: `upload_expired`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    deleteProfilePicture: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The user that the API key acts as.
                 * @example ada
                 */
                userId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The user has no profile picture. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
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
            400: components["responses"]["InvalidInputOrMissingScopeOrUserRequired"];
            403: components["responses"]["OtherUser"];
            404: components["responses"]["UserNotFound"];
            /** @description A new picture is being uploaded. `Error-Code`: `upload_in_progress`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    listEnvironmentVariables: {
        parameters: {
            query?: {
                /** @description The maximum number of items on the page, at least 1. A number above 1000 counts as 1000. */
                limit?: components["parameters"]["limit"];
                /** @description The `nextCursor` of the previous page. */
                cursor?: string;
            };
            header?: never;
            path: {
                /**
                 * @description The project.
                 * @example website
                 */
                projectId: components["parameters"]["projectId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of variables. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "key": "DATABASE_URL",
                     *           "createdAt": "2026-03-02T09:15:00.000Z",
                     *           "updatedAt": "2026-03-29T01:00:00.000Z"
                     *         }
                     *       ],
                     *       "nextCursor": null
                     *     }
                     */
                    "application/json": components["schemas"]["EnvironmentVariablePage"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            404: components["responses"]["ProjectNotFound"];
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    setEnvironmentVariables: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes the request safe to repeat: a request with the same key and an equal body changes nothing and returns what the first one created, as it is now. With another body, it gets 409. The key is stored for one day. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description The project.
                 * @example website
                 */
                projectId: components["parameters"]["projectId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EnvironmentVariableValues"];
            };
        };
        responses: {
            /** @description The variables were stored, by this request or an earlier one with the same `Idempotency-Key`. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    /** @description The path of the list of variables. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "items": [
                     *         {
                     *           "key": "DATABASE_URL",
                     *           "createdAt": "2026-03-02T09:15:00.000Z",
                     *           "updatedAt": "2026-03-29T01:00:00.000Z"
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["EnvironmentVariables"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            404: components["responses"]["ProjectNotFound"];
            /** @description The project is archived or would have more than 12 MiB of values, the project or the organization would have more variables than allowed, or the `Idempotency-Key` was used with another body. `Error-Code`: `project_archived`, `environment_variable_limit`, `idempotency_key_reused`, `quota_exceeded`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    putEnvironmentVariable: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The project.
                 * @example website
                 */
                projectId: components["parameters"]["projectId"];
                /**
                 * @description The name of the variable.
                 * @example DATABASE_URL
                 */
                key: components["parameters"]["key"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EnvironmentVariableValue"];
            };
        };
        responses: {
            /** @description The variable has the new value. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "key": "DATABASE_URL",
                     *       "createdAt": "2026-03-02T09:15:00.000Z",
                     *       "updatedAt": "2026-03-29T01:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["EnvironmentVariable"];
                };
            };
            /** @description The variable was created. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "key": "DATABASE_URL",
                     *       "createdAt": "2026-03-02T09:15:00.000Z",
                     *       "updatedAt": "2026-03-29T01:00:00.000Z"
                     *     }
                     */
                    "application/json": components["schemas"]["EnvironmentVariable"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ProjectForbidden"];
            404: components["responses"]["ProjectNotFound"];
            /** @description The project is archived or would have more than 12 MiB of values, or the project or the organization would have more variables than allowed. `Error-Code`: `project_archived`, `environment_variable_limit`, `quota_exceeded`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    deleteEnvironmentVariable: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The project.
                 * @example website
                 */
                projectId: components["parameters"]["projectId"];
                /**
                 * @description The name of the variable.
                 * @example DATABASE_URL
                 */
                key: components["parameters"]["key"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The variable was deleted. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
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
            /** @description The path is invalid, or the API key lacks the required scope. `Error-Code`: `invalid_input`, `missing_scope`. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            403: components["responses"]["ProjectForbidden"];
            /** @description The organization has no project with this projectId, or the project has no variable with this key. `Error-Code`: `project_not_found`, `environment_variable_not_found`. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            409: components["responses"]["ProjectArchived"];
            /** @description The variable could not be deleted. `Error-Code`: `internal_error`. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            default: components["responses"]["ServiceError"];
        };
    };
    leaseEnvironmentVariables: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description The project.
                 * @example website
                 */
                projectId: components["parameters"]["projectId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EnvironmentVariableLeaseRequest"];
            };
        };
        responses: {
            /** @description The values, sealed. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "organizationId": "0198c2a4-6b0f-7a11-8c44-d2f1a5b7e900",
                     *       "projectId": "website",
                     *       "keys": [
                     *         "DATABASE_URL"
                     *       ],
                     *       "enc": "rvJVihpGX1ZqqL9r9M5OvG2TD2hilCm3Z__j9ZT9qG4",
                     *       "ciphertext": "BNllodxPYjvVrHM5ewq3eqKW0GDEX7GhrTOgFOa2AANBuKPDoZjkQle03UB3CUQAeajArIsjU6KHlCwBk4SWBcdj"
                     *     }
                     */
                    "application/json": components["schemas"]["EnvironmentVariableLease"];
                };
            };
            400: components["responses"]["InvalidInputOrMissingScope"];
            401: components["responses"]["Unauthorized"];
            /** @description The API key is not restricted to projects, or it is restricted to others. `Error-Code`: `restricted_key_required`, `project_forbidden`. */
            403: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description There is no such project or variable. `Error-Code`: `project_not_found`, `environment_variable_not_found`. */
            404: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            /** @description The variables are too large for one lease. `Error-Code`: `lease_too_large`. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Error-Code": components["headers"]["Error-Code"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
            429: components["responses"]["RateLimited"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
            default: components["responses"]["ServiceError"];
        };
    };
    scheduleRun: {
        parameters: {
            query?: never;
            header: {
                /** @description The ID of the run. */
                "webhook-id": string;
                /** @description The time of the attempt, in seconds since 1970-01-01T00:00:00Z. */
                "webhook-timestamp": string;
                /** @description `v1,` and an HMAC-SHA-256 in base64. During the overlap of a rotation there are two, separated by a space. */
                "webhook-signature": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScheduleRunMessage"];
            };
        };
        responses: {
            /** @description The run is delivered. If the body is an outcome, of up to 16 KiB, the run is finished with it; any other body is ignored. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunOutcome"];
                };
            };
            /** @description The service deletes the run endpoint. The run stays pending. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The run is delivered. Its outcome is reported later, if at all. */
            "2XX": {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The attempt failed. Retries follow after 1, 5, 15, 60 and 180 minutes. If all fail, the status of the run is `failed`. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
}

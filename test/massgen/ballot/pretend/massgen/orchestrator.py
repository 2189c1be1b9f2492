class Label:
    def __init__(self, label):
        self.label = label


class CoordinationTracker:
    def __init__(self):
        self.events = []
        self.agent_ids = []
        self.answers_by_agent = {}

    def initialize_session(self, agent_ids, user_prompt=None, log_path=None):
        self.agent_ids = list(agent_ids)
        self.answers_by_agent = {agent: [] for agent in agent_ids}
        self.events.append("session_start")

    def add_agent_answer(self, agent):
        number = sorted(self.agent_ids).index(agent) + 1
        self.answers_by_agent[agent].append(Label("agent%d.1" % number))

    def get_anonymous_agent_mapping(self):
        return {"agent%d" % number: agent for number, agent in enumerate(sorted(self.agent_ids), 1)}

    def get_agents_with_answers_anon(self, answers):
        return [name for name, agent in self.get_anonymous_agent_mapping().items() if agent in answers]

    def get_latest_answer_label(self, agent):
        answers = self.answers_by_agent.get(agent)
        return answers[-1].label if answers else None


class StepMode:
    enabled = True


class Orchestrator:
    def __init__(self, agent, answers, step_mode=StepMode()):
        """The docstring of __init__."""
        self.agents = {agent: None}
        self._answers = answers
        self._step_mode = step_mode
        vote = {"name": "vote", "parameters": {"properties": {"agent_id": {"enum": ["agent1"]}}}}
        self.workflow_tools = [{"function": {"name": "new_answer"}}, {"function": vote}]
        self.coordination_tracker = CoordinationTracker()
        self.coordination_tracker.initialize_session(sorted({agent, *answers}))
        for peer in answers:
            self.coordination_tracker.add_agent_answer(peer)

    def _get_current_answers_snapshot(self):
        return {agent: "answer" for agent in self._answers}

    def chat(self):
        self.coordination_tracker.initialize_session(list(self.agents), "prompt", log_path=None)
        vote = self.workflow_tools[1]["function"]
        return vote["parameters"]["properties"]["agent_id"]["enum"]
